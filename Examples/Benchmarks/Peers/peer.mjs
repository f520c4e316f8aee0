// peer.mjs: one message through a Proxy to many weakly held targets, in Node.
// Prints: peer,case,N,median ns per delivery.

const [name, count] = [process.argv[2], Number(process.argv[3])];

class Target {
  received = 0;
  tick(value) { this.received = (this.received + value) | 0; }
}

const targets = Array.from({ length: count }, () => new Target());
const references = targets.map((target) => new WeakRef(target));

/// Forwards each call to all live targets that have the method. Caches the function of a name.
const made = new Map();
const proxy = new Proxy({}, {
  get(_, key) {
    let forward = made.get(key);
    if (!forward) {
      forward = (...values) => {
        let last;
        for (const reference of references) {
          const target = reference.deref();
          if (target !== undefined && typeof target[key] === 'function') last = target[key](...values);
        }
        return last;
      };
      made.set(key, forward);
    }
    return forward;
  },
  has(_, key) { return references.some((reference) => typeof reference.deref()?.[key] === 'function'); },
});

let sink = 0;
const cases = {
  proxy: [count, (messages) => { for (let i = 0; i < messages; i++) proxy.tick(i); }],
  loop: [count, (messages) => {
    for (let i = 0; i < messages; i++) for (const reference of references) reference.deref()?.tick(i);
  }],
  responds: [1, (messages) => { for (let i = 0; i < messages; i++) if ('pause' in proxy) sink++; }],
};

proxy.tick(5);
if (targets[count - 1].received !== 5) throw new Error('the last target got nothing');

const now = () => Number(process.hrtime.bigint());
// Ends a turn of the event loop between batches; a weak reference retains its target until then.
const turn = () => new Promise((resolve) => setImmediate(resolve));

const [units, work] = cases[name];
let messages = 1;
let batch = 0;
for (const end = now() + 1e9; now() < end || batch < 2e6;) {
  const start = now();
  work(messages);
  batch = now() - start;
  if (batch < 2e6) messages *= 2;
  await turn();
}
const samples = [];
for (let i = 0; i < 15; i++) {
  await turn();
  const start = now();
  work(messages);
  samples.push((now() - start) / (messages * units));
}
samples.sort((a, b) => a - b);
console.log(`Node,${name},${count},${samples[7].toFixed(2)}`);
