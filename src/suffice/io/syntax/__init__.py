"""What several formats share in how they are written: texts with comments and quotation marks, braces, and XML."""
