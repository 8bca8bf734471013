// Loaded into a program by `node --import`: its clock is CLOCK_BEHIND_MS behind, so that its tokens and deadlines have
// expired already.
const behind = Number(process.env.CLOCK_BEHIND_MS);
const now = Date.now.bind(Date);
const earlier = () => now() - behind;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [earlier()] : args, newTarget),
});
Object.defineProperty(Date, 'now', { value: earlier });
