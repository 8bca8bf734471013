import { describe, expect, it } from 'vitest';
import type { Origin } from '../../../shared/audit/auditEvent.ts';
import { createApp } from '../../../shared/http/app.ts';
import { clientKey } from '../../../shared/http/exchange.ts';
import { configureLog } from '../../../shared/log.ts';

configureLog('silent');

/** The origin of a request without a socket. */
async function originOf(headers: Record<string, string>, trustedProxies?: number): Promise<Origin> {
  let origin: Origin = {};
  const app = createApp({
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    routes: [
      {
        method: 'GET',
        path: '/',
        handler: (context) => {
          origin = context.get('origin');
          return new Response();
        },
      },
    ],
  });
  await app.request('/', { headers: { 'x-request-id': 'r1', ...headers } });
  return origin;
}

describe('the address of a client', () => {
  const header = (value: string) => ({ 'x-forwarded-for': value });

  it('is the one that the trusted proxies append, not those that the client writes', async () => {
    expect(await originOf(header('203.0.113.9, 192.0.2.1, 198.51.100.7'), 2)).toMatchObject({ remote: '192.0.2.1' });
    expect(await originOf(header('203.0.113.9,2001:db8::1'), 1)).toMatchObject({ remote: '2001:db8::1' });
  });

  it('is not taken from the header where no proxy is trusted, where fewer have appended, or where it is none', async () => {
    expect(await originOf(header('192.0.2.1'))).toEqual({ requestId: 'r1' });
    expect(await originOf(header('192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
    expect(await originOf(header('evil"\\n, 192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
  });
});

describe('the trace of a request', () => {
  const id = '0af7651916cd43dd8448eb211c80319c';

  it.each([
    [{ traceparent: `00-${id}-b7ad6b7169203331-01` }],
    [{ 'x-cloud-trace-context': `${id}/1;o=1` }],
    [{ 'x-cloud-trace-context': id }],
  ])('is that of %j', async (headers) => {
    expect(await originOf(headers)).toEqual({ requestId: 'r1', trace: id });
  });

  it('is left out where a header has none', async () => {
    expect(await originOf({ traceparent: 'x', 'x-cloud-trace-context': `${id}0` })).toEqual({ requestId: 'r1' });
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
  ['2001::4:5:6:7:8', '2001:0:0:4::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, ''],
])('the address %s counts as the client %s', (address, key) => {
  expect(clientKey(address)).toBe(key);
});
