"""Products with sparse matrices in compressed rows."""
