"""An audit of the certificate: correct fits must be certified, and wrong ones must not.

``python -m tests.audit --fits 500 --perturbations 3000 --seed 0`` draws fits of every family and changes single
parameters of them. The changed model claims its own log-likelihood, so that comparing log-likelihoods cannot notice.
"""
