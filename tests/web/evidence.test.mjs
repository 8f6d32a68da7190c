// Evidence: clicks, words, code and addresses.

import assert from "node:assert/strict";
import test from "node:test";
import {
  asPython, asShell, describe, emptyQuestion, exclude, findings, fromFragment, isSame, observe, observeValue, toFragment, weigh, withdraw,
} from "../../src/suffice/report/web/evidence.js";

const entries = [
  { n: "dysp", k: "table", s: ["yes", "no"] },
  { n: "it's <b>", k: "table", s: ["a,b", "c", "d"] },
  { n: "x", k: "linear Gaussian" },
];

test("a click observes a state, and a second one withdraws it", () => {
  const once = observe(emptyQuestion(), 0, 1);
  assert.deepEqual(once.hard, { 0: 1 });
  assert.deepEqual(observe(once, 0, 0).hard, { 0: 0 });
  assert.deepEqual(observe(once, 0, 1), emptyQuestion());
});

test("ruling a state out keeps the others, and the last one cannot be ruled out", () => {
  const one = exclude(emptyQuestion(), 0, 0, 2);
  assert.deepEqual(one.soft, { 0: [0, 1] });
  assert.equal(exclude(one, 0, 1, 2), one);
  assert.deepEqual(exclude(one, 0, 0, 2), emptyQuestion());
});

test("evidence of one kind replaces that of another", () => {
  const seen = observe(emptyQuestion(), 1, 2);
  const weighed = weigh(seen, 1, 0, 0.25, 3);
  assert.deepEqual(weighed, { hard: {}, soft: { 1: [0.25, 1, 1] }, values: {} });
  assert.deepEqual(findings(observeValue(weighed, 2, -1.5)), [1, 2]);
  assert.deepEqual(withdraw(weighed, 1), emptyQuestion());
  assert.deepEqual(weigh(weighed, 1, 0, 1, 3), emptyQuestion());
});

test("evidence is described in words", () => {
  assert.equal(describe(observe(emptyQuestion(), 0, 1), 0, entries), "dysp = no");
  assert.equal(describe(exclude(emptyQuestion(), 1, 1, 3), 1, entries), "it's <b> ≠ c");
  assert.equal(describe(weigh(emptyQuestion(), 0, 0, 0.2, 2), 0, entries), "dysp ~ yes 0.2, no 1");
  assert.equal(describe(observeValue(emptyQuestion(), 2, 1.5), 2, entries), "x = 1.5");
});

test("the question as code can be pasted", () => {
  let question = observe(emptyQuestion(), 0, 0);
  question = exclude(question, 1, 0, 3);
  assert.equal(asPython(question, [2], entries, {}), 'model.query("x", {\n    "dysp": "yes",\n    "it\'s <b>": ["c", "d"],\n})');
  assert.equal(asPython(emptyQuestion(), [], entries, {}), "model.marginals()");
  assert.equal(asPython(observe(emptyQuestion(), 0, 1), [], entries, { 0: ["1", "2"] }), 'model.marginals({"dysp": 2})');
  assert.equal(asShell(question, [2], entries, "my model.bif"), "suffice query 'my model.bif' x -g dysp=yes -g 'it'\\''s <b>=c,d'");
  assert.equal(asShell(weigh(emptyQuestion(), 0, 0, 0.2, 2), [], entries, "m.json"), "suffice query m.json -g dysp=yes:0.2,no:1");
});

test("a target that looks like an option is none in the shell", () => {
  const dashed = [{ n: "-dash", k: "table", s: ["a", "b"] }, entries[0]];
  assert.equal(asShell(observe(emptyQuestion(), 1, 0), [0], dashed, "m.json"), "suffice query m.json -g dysp=yes -- -dash");
});

test("the address brings back the question", () => {
  let question = observe(emptyQuestion(), 0, 1);
  question = weigh(question, 1, 2, 0.125, 3);
  question = observeValue(question, 2, -0.3);
  const back = fromFragment("#" + toFragment(question, [1, 0], entries), entries, 3);
  assert.ok(isSame(back.question, question));
  assert.deepEqual(back.pinned, [1, 0]);
});

test("an address that does not fit the model is used as far as it does", () => {
  const text = "#is.dysp=maybe&is.nobody=yes&like.dysp=1&like.it%27s%20%3Cb%3E=0,0,0&at.x=abc&at.dysp=1&pin=nobody&pin=x&pin=x&is.x=1";
  const back = fromFragment(text, entries, 3);
  assert.deepEqual(back, { question: emptyQuestion(), pinned: [2] });
});
