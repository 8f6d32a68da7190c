"""Small published tables that the examples use.

``berkeley.csv``: applicants to graduate school at Berkeley for the autumn of 1973, the six largest departments, by
department, gender and admission. Source: P. J. Bickel, E. A. Hammel and J. W. O'Connell (1975), "Sex bias in graduate
admissions: data from Berkeley", Science 187, 398-404; counts as printed in D. Freedman, R. Pisani and R. Purves,
"Statistics".
"""
