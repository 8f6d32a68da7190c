"""What a fit returns: the model with its proof, its account and its notes."""
