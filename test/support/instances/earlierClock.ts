// Loaded into a program by `node --import`: its clock goes CLOCK_BEHIND_MS behind, so that what it makes to last a while
// is over already.
const behind = Number(process.env.CLOCK_BEHIND_MS);
const now = Date.now.bind(Date);
const earlier = () => now() - behind;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [earlier()] : args, newTarget),
});
Object.defineProperty(Date, 'now', { value: earlier });
