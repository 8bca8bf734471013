import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { send } from '../../support/http/wire.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

async function exchange(url: string, lines: string) {
  const socket = await openConnection(url);
  socket.write(`${lines.replaceAll('|', '\r\n')}\r\n\r\n`);
  const answer = await readAnswer(socket);
  socket.destroy();
  return answer;
}

describe('the probe of a load balancer, a monitor or an old proxy', () => {
  it.each([
    ['GET /health HTTP/1.0', 200, '{"status":"ok"}'],
    ['GET /ready HTTP/1.0|Connection: keep-alive', 200, '{"status":"ready"}'],
    ['HEAD /ready HTTP/1.0', 200, ''],
    ['GET /healthz/ HTTP/1.1|Host: a|Connection: close', 200, '{"status":"ok"}'],
    ['GET /ready/ HTTP/1.1|Host: a|Connection: close', 200, '{"status":"ready"}'],
    ['GET http://a/readyz?x=1 HTTP/1.1|Host: a|Connection: close', 200, '{"status":"ready"}'],
    ['GET //healthz HTTP/1.1|Host: a|Connection: close', 200, '{"status":"ok"}'],
    ['GET //ready// HTTP/1.0', 200, '{"status":"ready"}'],
    ['GET // HTTP/1.0', 200, '{"status":"ok"}'],
    ['OPTIONS /openapi.json/ HTTP/1.0', 204, ''],
    ['OPTIONS //ready/ HTTP/1.0', 204, ''],
    ['OPTIONS /health HTTP/1.0', 204, ''],
    ['OPTIONS /ready HTTP/1.1|Host: a|Connection: close', 204, ''],
    ['OPTIONS / HTTP/1.0', 204, ''],
    ['OPTIONS http://a HTTP/1.1|Host: a|Connection: close', 204, ''],
    ['OPTIONS /openapi.json HTTP/1.0', 204, ''],
    ['HEAD / HTTP/1.0', 200, ''],
    ['GET / HTTP/1.0', 200, '{"status":"ok"}'],
    ['GET / HTTP/1.0|Connection: keep-alive', 200, '{"status":"ok"}'],
    ['GET / HTTP/1.1|Host:|Connection: close', 200, '{"status":"ok"}'],
    ['|GET / HTTP/1.0', 200, '{"status":"ok"}'],
    ['GET /ready HTTP/1.1|Host: a|Connection: Upgrade, close|Upgrade: h2c', 200, '{"status":"ready"}'],
    ['GET /ready HTTP/1.1|Host: a|Connection: Upgrade, close|Upgrade: websocket', 200, '{"status":"ready"}'],
    ['OPTIONS * HTTP/1.0', 204, ''],
    ['OPTIONS * HTTP/1.1|Host: a|Connection: close', 204, ''],
  ])('is answered: %s', async (lines, status, body) => {
    const { url } = await servedPlace(sqlite);
    expect(await exchange(url, lines)).toMatchObject({ status, body });
  });

  it.each([
    ['POST //admin/v1/export HTTP/1.0', 404, 'remove repeated slashes'],
    ['DELETE /v2/users//otp_email HTTP/1.0', 404, 'remove repeated slashes'],
    ['POST /admin/v1/export/ HTTP/1.0', 404, 'Not Found'],
    ['POST //health HTTP/1.0', 405, 'Method Not Allowed'],
  ])('differs from a call of the API, whose path must be exact: %s', async (lines, status, text) => {
    const { url } = await servedPlace(sqlite);
    expect(await exchange(url, lines)).toMatchObject({ status, body: expect.stringContaining(text) });
  });

  it('needs a Host in HTTP/1.1', async () => {
    const { url } = await servedPlace(sqlite);
    expect(await exchange(url, 'GET /health HTTP/1.1|Connection: close')).toMatchObject({ status: 400 });
  });
});

describe('a request whose body is compressed and does not name the coding', () => {
  it('is read like a compressed file', async () => {
    const { url, token } = await servedPlace(sqlite);
    const body = gzipSync('{"dry_run":true,"data_orgs":{"orgs":[]}}');
    const { status, text } = await send({ url }, { method: 'POST', path: '/admin/v1/import', token, body });
    expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('"dryRun":true') });
  });
});
