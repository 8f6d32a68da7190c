"""What is believed before the data, and what is believed after it."""
