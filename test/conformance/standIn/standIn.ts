import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import type { Answer } from '../answer.ts';
import { accounts } from './accounts.ts';
import { DeadlyExclusionError } from './exports.ts';
import { type Received, recordedAnswers } from './recordedAnswers.ts';
import { handleRequest } from './routes.ts';

const HOUR_MS = 3_600_000;

/** A server that answers as the recorded ZITADEL does. */
export interface StandIn {
  readonly url: string;
  /** A token of its IAM_OWNER. */
  readonly token: string;
  /** The organisations that were imported and not deleted. */
  readonly organisations: () => string[];
  /** How often an exclusion ended it. */
  readonly deaths: () => number;
}

/** How a stand-in behaves. */
export interface StandInOptions {
  /** How long exports do not show an import. */
  readonly lagMs?: number;
  /** How long it is gone after an exclusion; for good where undefined. */
  readonly deadMs?: number | undefined;
  /** Whether it has the request that deletes an organisation. */
  readonly deletes?: boolean;
}

/**
 * Starts a stand-in of the recorded ZITADEL for the time of a test. It gives the recorded answers to the recorded
 * requests; for others, this service stands in, with ZITADEL's differences put on it. An exclusion that matches closes
 * all of its sockets.
 */
export async function startStandIn({ lagMs = 300, deadMs, deletes = true }: StandInOptions = {}): Promise<StandIn> {
  const { token, attempt } = await testInstance(await openTestStore(sqlite), 'stand-in', {
    limits: { timeoutMs: HOUR_MS },
  });
  const users = accounts(token);
  const recorded = recordedAnswers(token);
  const imported = { organisations: new Map<string, number>(), projects: new Set<string>() };
  const ports = { accounts: users, imported, lagMs, deletes, attempt };
  const answer = async (incoming: IncomingMessage): Promise<Answer> => {
    const request = await received(incoming, (bearer) => users.callerOf(bearer));
    const handled = () => handleRequest(ports, request);
    const found = recorded.find(request);
    // What a recorded answer did must happen here as well: a factor changes, and a timeout leaves the organisation.
    if (found?.status === 200 && request.path.endsWith('/otp_email')) await handled();
    const [, late] = (found?.status === 500 && /"orgId":"([^"]+)"/.exec(String(request.body))) || [];
    if (late !== undefined) imported.organisations.set(late, 0);
    return found ?? handled();
  };
  let [deaths, port] = [0, 0];
  const die = () => {
    deaths += 1;
    server.close();
    server.closeAllConnections();
    if (deadMs !== undefined) timer = setTimeout(() => server.listen(port, '127.0.0.1'), deadMs);
  };
  let timer: NodeJS.Timeout | undefined;
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, headers, text }) => {
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
        response.writeHead(status).end(text);
      },
      (error: unknown) => (error instanceof DeadlyExclusionError ? die() : response.writeHead(599).end(String(error))),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  port = address.port;
  onTestFinished(() => {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
  });
  const organisations = () => [...imported.organisations.keys()];
  return { url: `http://127.0.0.1:${port}`, token, organisations, deaths: () => deaths };
}

async function received(request: IncomingMessage, callerOf: (token: string) => string | undefined): Promise<Received> {
  const { method = '', url: path = '' } = request;
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  return { method, path, headers, body: await buffer(request), userId: bearer && callerOf(bearer) };
}
