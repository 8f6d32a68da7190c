#include "propagation.hpp"
NB_MODULE(trees, m) { m.doc() = "Message passing on junction trees."; }
