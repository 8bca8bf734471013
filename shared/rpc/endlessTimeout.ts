/** Node's timers fire after one millisecond when the delay is longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The protocols' headers for a call's timeout: the digits of a value, and the milliseconds of its units. */
const timeouts = [
  { name: 'grpc-timeout', pattern: /^(\d{1,8})([HMS])$/, milliseconds: { H: 3_600_000, M: 60_000, S: 1_000 } },
  { name: 'connect-timeout-ms', pattern: /^(\d{1,10})()$/, milliseconds: { '': 1 } },
] as const;

/**
 * Removes a timeout that is too long for a timer, 24 days: without one, the call has as much time. With it, the call would
 * time out at once.
 */
export function withoutEndlessTimeout(headers: Headers): Headers {
  const endless = timeouts.filter(({ name, pattern, milliseconds }) => {
    const [, digits = '', unit = ''] = pattern.exec(headers.get(name) ?? '') ?? [];
    const factor = Object.entries(milliseconds).find(([letter]) => letter === unit)?.[1] ?? 0;
    return Number(digits) * factor > MAX_TIMER_MS;
  });
  if (endless.length === 0) return headers;
  const copy = new Headers(headers);
  for (const { name } of endless) copy.delete(name);
  return copy;
}
