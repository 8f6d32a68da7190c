"""Methods: from a problem (structure, statistics, prior) to a solution. One method is one file and one line."""
