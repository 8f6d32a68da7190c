"""What is known before the data: graphs, hypotheses; frozen, no numbers."""
