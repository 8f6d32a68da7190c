"""Algorithms on bare graphs: names and edges in, orders and cliques out."""
