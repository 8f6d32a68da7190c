"""Tables in, blocks of codes out: variables and schemas, one reader per kind of table, one encoder."""
