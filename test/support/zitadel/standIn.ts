import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { DEFAULT_ORGANISATION, measured, type ReceivedRequest, type ZitadelBehaviour } from './behaviour.ts';
import { Contents } from './contents.ts';
import { type Reply, replies } from './replies.ts';
import { handle, type Routed } from './routes.ts';

/** A running stand-in for ZITADEL. */
export interface ZitadelStandIn {
  readonly url: string;
  readonly contents: Contents;
  /** Tokens by the ids of their users. The user `owner` is IAM_OWNER. */
  readonly tokens: Map<string, string>;
  readonly requests: ReceivedRequest[];
  readonly behaviour: ZitadelBehaviour;
  readonly deaths: () => number;
  /** Restarts a process that would otherwise stay down. */
  readonly revive: () => void;
}

/**
 * Returns the imports that a stand-in received. Excludes the probe for the import of states, which every release
 * rejects.
 */
export function importsOf({ requests }: Pick<ZitadelStandIn, 'requests'>): readonly ReceivedRequest[] {
  return requests.filter(({ records }) => records !== undefined);
}

/**
 * Starts a stand-in for ZITADEL for the duration of a test. Its limits, delays, responses, imports and exports are
 * those measured at a real instance. Its searches for grants and members only follow ZITADEL's definitions.
 * @param earlier the content to begin with; by default, that of a new instance
 */
export async function startZitadel(given: Partial<ZitadelBehaviour> = {}, earlier?: Contents): Promise<ZitadelStandIn> {
  const behaviour = { ...measured, refusals: [], ...given };
  const contents = earlier === undefined ? firstContents(behaviour) : new Contents(behaviour, earlier);
  const requests: ReceivedRequest[] = [];
  const tokens = new Map([['owner', 'owner-token']]);
  let [deaths, port] = [0, 0];
  let revival: NodeJS.Timeout | undefined;
  const revive = () => void server.listen(port, '127.0.0.1');
  const server = createServer((request, response) => {
    // Seen with 4.13.1: only responses over gRPC-Web lack the time.
    response.sendDate = false;
    if (request.headers['content-type']?.startsWith('application/grpc-web') !== true)
      response.setHeader('date', new Date(Date.now() + behaviour.aheadMs).toUTCString());
    const running = respond(request, response, (routed) =>
      handle({ contents, tokens, requests, behaviour, id: `4000000000000${port}`, host: 'localhost' }, routed),
    );
    running.catch(() => {
      deaths++;
      behaviour.diesAtWrite = Infinity;
      server.close();
      server.closeAllConnections();
      if (behaviour.deadMs !== undefined) revival = setTimeout(revive, behaviour.deadMs);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  port = address.port;
  onTestFinished(() => {
    clearTimeout(revival);
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${port}`, contents, tokens, requests, behaviour, deaths: () => deaths, revive };
}

/** Returns the content of a new instance. */
function firstContents(behaviour: ZitadelBehaviour): Contents {
  const contents = new Contents(behaviour);
  contents.organisations.set(DEFAULT_ORGANISATION, {
    orgId: DEFAULT_ORGANISATION,
    name: 'ZITADEL',
    state: 'ORG_STATE_ACTIVE',
    visibleAt: 0,
    sections: new Map(),
  });
  contents.users.set('owner', DEFAULT_ORGANISATION);
  contents.append('400000000000000000', [
    { aggregateType: 'instance', aggregateId: '400000000000000000', type: 'instance.added' },
  ]);
  contents.append(DEFAULT_ORGANISATION, [
    { aggregateType: 'org', aggregateId: DEFAULT_ORGANISATION, type: 'org.added', payload: { name: 'ZITADEL' } },
  ]);
  contents.append(DEFAULT_ORGANISATION, [{ aggregateType: 'user', aggregateId: 'owner', type: 'user.machine.added' }]);
  return contents;
}

/** @throws when the request ends the process */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (routed: Routed) => Promise<Reply>,
): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  const body = await buffer(request);
  const orgId = headers['x-zitadel-orgid'];
  const {
    status,
    type,
    content,
    headers: more,
  } = await answer({
    method,
    path,
    host: headers.host ?? '',
    body,
    orgId: typeof orgId === 'string' ? orgId : undefined,
    authorization: headers.authorization,
    contentType: headers['content-type'] ?? '',
  }).catch((error: unknown) => {
    if (error instanceof SyntaxError) return replies.json(400, { code: 3, message: error.message });
    throw error;
  });
  response.writeHead(status, { 'content-type': type, ...more }).end(content);
}
