import { expect } from 'vitest';
import { generateToken } from '../../../shared/auth/token.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { ask, ended, openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { send } from '../../support/http/wire.ts';
import type { CostRow } from './costRow.ts';

const caller = 'no token';
const places = 'one of `MAX_CONNECTIONS` and of `MAX_PER_CLIENT`, until the response is read';
const most = { removals: 6, memoryBytes: 150_000_000, diskBytes: 0 };
const times = 1_000;
/** What the rest of a head may need. */
const REST_BYTES = 1_000;

/** Requests of callers without a token. */
export const strangerRows: readonly CostRow[] = [
  {
    ...{ caller, places, most, times },
    request: 'the largest complete response: `GET /openapi.json`',
    prepare: async (server) => {
      return async () => expect((await send(server, { method: 'GET', path: '/openapi.json' })).status).toBe(200);
    },
  },
  {
    ...{ caller, places, most, times },
    request: 'a token that nobody has, but that the database is asked for, with as many other headers as there may be',
    prepare: async ({ url }) => {
      const more = Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [`x${String(index).padStart(4, '0')}`, 'x'.repeat(5)]),
      );
      const size = (headers: object) => Object.entries(headers).join('').length;
      const padding = 'x'.repeat(fixedLimits.headerBytes - REST_BYTES - size(more));
      return async () => {
        const headers = { authorization: `Bearer ${generateToken()}`, ...more, padding };
        expect((await ask(url, 'DELETE /v2/users/1/otp_email', headers)).status).toBe(401);
      };
    },
  },
  {
    ...{ caller, most, times },
    places: 'as above, and for up to a second for the rest of the body',
    request: 'an import whose body does not end',
    prepare: async ({ url }) => {
      return async () => {
        const socket = await openConnection(url);
        socket.write('POST /admin/v1/import HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
        expect((await readAnswer(socket)).status).toBe(401);
        await ended(socket);
        socket.destroy();
      };
    },
  },
];
