// Answer questions that come as JSON on standard input: {tree, normal, questions: [[question, target], …]}.

import { readFileSync } from "node:fs";

import { normalEngine, treeEngine } from "../../src/suffice/report/web/local_engine.js";

const { tree, normal, questions } = JSON.parse(readFileSync(0, "utf-8"));
const engine = tree ? treeEngine(tree) : normalEngine(normal);
const found = [];
for (const [question, target] of questions) {
  found.push([await engine.answer(question), target && (await engine.insights(question, target))]);
}
const named = (value) => (value === -Infinity ? "-inf" : Number.isNaN(value) ? "NaN" : value);
process.stdout.write(JSON.stringify(found, (_, value) => named(value)));
