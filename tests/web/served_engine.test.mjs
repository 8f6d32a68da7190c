import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { servedEngine } from "../../src/suffice/report/web/served_engine.js";

const NOTHING = { hard: {}, soft: {}, values: {} };
const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

/** Answer requests by a function, and keep them; answers that never come end when they are aborted. */
function serve(answer) {
  const requests = [];
  globalThis.fetch = (path, request) => {
    const asked = { path, headers: request.headers, document: JSON.parse(request.body), signal: request.signal };
    requests.push(asked);
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener("abort", () => reject(request.signal.reason));
      Promise.resolve(answer(asked)).then((found) => {
        if (found !== undefined) resolve(new Response(JSON.stringify(found.body), { status: found.status ?? 200 }));
      }, reject);
    });
  };
  return requests;
}

test("questions carry the token in a header, and numbers that grow", async () => {
  const requests = serve(() => ({ body: { logEvidence: -1, marginals: [] } }));
  const engine = servedEngine("secret");
  await engine.answer(NOTHING);
  await engine.insights(NOTHING, { node: 0, state: 1 });
  await engine.intervals(NOTHING);
  await servedEngine("secret").answer(NOTHING);
  assert.deepEqual(requests.map(({ path }) => path), ["/answer", "/insights", "/intervals", "/answer"]);
  for (const { headers, path } of requests) {
    assert.equal(headers["X-Suffice-Token"], "secret");
    assert.equal(headers["Content-Type"], "application/json");
    assert.ok(!path.includes("secret"));
  }
  assert.deepEqual(requests.map(({ document }) => document.number), [1, 2, 3, 1]);
  assert.deepEqual(requests[1].document.target, { node: 0, state: 1 });
  assert.equal(requests[0].document.page, requests[2].document.page);
  assert.notEqual(requests[0].document.page, requests[3].document.page);
});

test("impossible evidence has the logarithm −∞, and evidence that was refused none", async () => {
  serve(() => ({ body: { logEvidence: null, marginals: [null], clash: [0] } }));
  assert.equal((await servedEngine("").answer(NOTHING)).logEvidence, -Infinity);
  serve(() => ({ body: { logEvidence: null, marginals: [null], refusal: "No." } }));
  assert.ok(Number.isNaN((await servedEngine("").answer(NOTHING)).logEvidence));
});

test("a newer question ends older ones, their insights and their intervals", async () => {
  let waiting = true;
  serve(() => (waiting ? undefined : { body: { logEvidence: 0, marginals: [] } }));
  const engine = servedEngine("");
  const older = [engine.answer(NOTHING), engine.insights(NOTHING, null), engine.intervals(NOTHING)];
  const ended = older.map((promise) => assert.rejects(promise, { name: "AbortError" }));
  waiting = false;
  await engine.answer(NOTHING);
  await Promise.all(ended);
});

test("newer insights end older ones, and no question", async () => {
  const answers = [];
  serve(({ path }) => new Promise((resolve) => answers.push(() => resolve({ body: { path, logEvidence: 0 } }))));
  const engine = servedEngine("");
  const question = engine.answer(NOTHING);
  const ended = assert.rejects(engine.insights(NOTHING, null), { name: "AbortError" });
  const newer = engine.insights(NOTHING, null);
  await ended;
  for (const answer of answers) answer();
  assert.equal((await question).path, "/answer");
  assert.equal((await newer).path, "/insights");
});

test("a question that the server gave up is aborted, too", async () => {
  serve(() => ({ status: 409, body: { error: "A newer question has replaced this one." } }));
  await assert.rejects(servedEngine("").answer(NOTHING), { name: "AbortError" });
});

test("a server that has ended is told in a sentence", async () => {
  serve(() => Promise.reject(new TypeError("Failed to fetch")));
  const engine = servedEngine("");
  for (const ask of [() => engine.answer(NOTHING), () => engine.entry(0), () => engine.rows(0, 1)]) {
    await assert.rejects(ask, { message: "The server has ended. Start it again: suffice explore …" });
  }
  serve(() => ({ status: 403, body: { error: "The request lacks the token of this page." } }));
  await assert.rejects(engine.answer(NOTHING), /has ended/);
});

test("refusals of the server are told in its own words", async () => {
  serve(() => ({ status: 400, body: { error: "A node is a whole number from 0 to 3." } }));
  await assert.rejects(servedEngine("").neighbourhood(9), { message: "A node is a whole number from 0 to 3." });
});

test("parts of the page are asked for", async () => {
  const requests = serve(({ path }) => ({ body: { path } }));
  const engine = servedEngine("");
  assert.equal((await engine.neighbourhood(3)).path, "/neighbourhood");
  assert.equal((await engine.entry(2)).path, "/entry");
  assert.equal((await engine.rows(5, 10)).path, "/rows");
  assert.deepEqual(requests.map(({ document }) => document), [{ node: 3, radius: 1 }, { node: 2 }, { start: 5, count: 10 }]);
});
