import type { ZitadelConnection } from '../../../cli/zitadel/connection.ts';
import type { ZitadelStandIn } from './standIn.ts';

/** Connects to a stand-in, with retries for half a second. */
export function connectTo(zitadel: Pick<ZitadelStandIn, 'url'>, token = 'owner-token'): ZitadelConnection {
  return {
    baseUrl: zitadel.url,
    token,
    tokenOption: '--token-file',
    signal: new AbortController().signal,
    retries: { attempts: () => 12, initialDelayMs: 100, maxDelayMs: 200 },
  };
}
