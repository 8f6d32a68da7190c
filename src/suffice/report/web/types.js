// The types that the modules of the page share. Nothing here runs.

/**
 * What was observed, by node. A node is in at most one of the three.
 *
 * @typedef {Object} Question
 * @property {Record<number, number>} hard  The code of the state that was observed.
 * @property {Record<number, number[]>} soft  The likelihood of every state; zero for a state that was ruled out.
 * @property {Record<number, number>} values  The value of a continuous variable.
 */

/**
 * The distribution of a continuous variable: a mixture of normal distributions, mostly of one.
 *
 * @typedef {Object} Density
 * @property {number[]} w  The weights of the components, which sum to one.
 * @property {number[]} m  Their means.
 * @property {number[]} s  Their standard deviations; zero where the value is known.
 */

/**
 * The distribution of one node: the probabilities of its states, a density, or null where it is not known.
 *
 * @typedef {number[] | Density | null} Marginal
 */

/**
 * @typedef {Object} Answer
 * @property {number} logEvidence  log p(evidence); −Infinity where it is impossible. With values, of a density.
 * @property {Marginal[]} marginals  By node. An observed node has all its probability on what was observed.
 * @property {number[]} [clash]  Where the evidence is impossible: nodes whose findings exclude each other, as few as suffice.
 * @property {string} [refusal]  Why there is no answer, in a sentence.
 * @property {string} [note]  Why some of the distributions are not known, where there is an answer.
 */

/**
 * The target of the panels on the right: a node, and of a discrete one the state that sensitivity is about.
 *
 * @typedef {Object} Target
 * @property {number} node
 * @property {number} state
 */

/**
 * @typedef {Object} Explanation
 * @property {(number | null)[]} states  By node: a code, or a value of a continuous variable; null where it is not known.
 * @property {Record<number, number[]>} ties  Nodes that have several states among equally probable configurations.
 * @property {number} logGiven  log p(configuration | evidence).
 */

/**
 * How fast p(target | evidence) changes with one entry of one table, the other entries of its row shrinking in proportion.
 *
 * @typedef {Object} Slope
 * @property {number} node
 * @property {number[]} parents  The codes of the parents, in the order of the table.
 * @property {number} state
 * @property {number} entry  The entry itself.
 * @property {number} slope
 */

/**
 * @typedef {Object} Insights
 * @property {Explanation | null} explanation
 * @property {number | null} conflict  log Π p(finding) − log p(all findings); above zero, findings contradict each other.
 * @property {[number, number][] | null} gains  Node and expected information gain for the target in nats, largest first.
 * @property {Slope[] | null} slopes  The steepest first, ten at most.
 * @property {{explanation?: string, gains?: string, slopes?: string}} [remarks]  Why something of it is not known, in sentences.
 * @property {string} [refusal]  Why nothing is known.
 */

/**
 * What answers: in the page itself, or a server on this machine.
 *
 * @typedef {Object} Engine
 * @property {(question: Question) => Promise<Answer>} answer
 * @property {(question: Question, target: Target | null) => Promise<Insights>} insights
 * @property {((question: Question) => Promise<(number[][] | null)[] | null>)} intervals
 *   Credible intervals by node, [lower, upper] for every state, or null.
 */

/**
 * A discrete model as a junction tree, for inference in the page.
 *
 * @typedef {Object} TreeSpec
 * @property {number[]} sizes  The number of states of every node.
 * @property {Factor[]} factors  Their product is proportional to the distribution.
 * @property {number[][]} cliques  The variables of every clique; the root comes last.
 * @property {number[]} above  The clique above each, −1 for a root.
 * @property {boolean} directed  Whether factor v is p(v | parents), its last variable being v. Only such have slopes.
 */

/**
 * @typedef {Object} Factor
 * @property {number[]} scope
 * @property {number[]} values  Flat; the last variable of the scope runs fastest.
 */

/**
 * A joint normal distribution, for inference in the page.
 *
 * @typedef {Object} NormalSpec
 * @property {number[]} mean
 * @property {number[][]} covariance
 */

/**
 * Something with a name that a reader may look up: a node, or a table. `report/page/entries.py` writes it.
 *
 * @typedef {Object} Entry
 * @property {string} n  Its name.
 * @property {string} k  Its kind, in a word or two.
 * @property {string[]} [s]  States.
 * @property {[string, string][]} [f]  Facts.
 * @property {number[]} [u]  Parents.
 * @property {number[]} [d]  Children.
 * @property {number[]} [m]  Neighbours.
 * @property {any[]} [t]  Tables.
 * @property {number} [l]  Its part of the log-likelihood.
 */

/**
 * Where boxes and edges are.
 *
 * @typedef {Object} Layout
 * @property {number[]} nodes  The nodes that are shown.
 * @property {[number, number, number, number][]} boxes  Left, top, width and height of each.
 * @property {{from: number, to: number, d: string, w: number, negative: boolean}[]} edges
 *   Both ends as nodes; the path; and a width from 0 (not known) to 4.
 * @property {number} width
 * @property {number} height
 */

/**
 * @typedef {Object} GraphSpec
 * @property {number} n  The first so many entries are its nodes.
 * @property {string[]} kinds  By node: discrete, continuous, class or latent.
 * @property {boolean} directed
 * @property {string} what  What nodes and edges are, in a sentence.
 * @property {Layout} layout
 */

/**
 * What the page shows; `report/page/page.py` writes it.
 *
 * @typedef {Object} Content
 * @property {string} name  The name of the model, as in a command.
 * @property {Entry[]} entries
 * @property {GraphSpec | null} graph
 * @property {TreeSpec | null} tree  For inference in the page, where the model is small and discrete.
 * @property {NormalSpec | null} normal  Where it is normal.
 * @property {Answer | null} prior  The answer without evidence, where no engine is in the page.
 * @property {(number[][] | null)[] | null} whiskers  Credible intervals without evidence.
 * @property {{token: string, rows: number, intervals: boolean} | null} served
 * @property {string} size  The size of the computation, in words.
 * @property {Record<number, string[]>} [literals]  Of nodes whose states are no text in Python: how Python writes them.
 * @property {number} first  The node to begin with where nothing can be asked; −1 for none.
 * @property {[string, number, number][]} families
 * @property {number} rows
 */

export {};
