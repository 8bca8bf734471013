import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { connect as connectSession } from 'node:http2';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { type HttpServerOptions, type RunningServer, serve } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { identity } from '../../support/command.ts';
import { openStream, readStream } from '../../support/http/http2.ts';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { init, serve as serveInstance } from '../../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const fixture = (name: string) => new URL(`../../fixtures/tls/${name}`, import.meta.url).pathname;
const read = (name: string) => readFileSync(fixture(name), 'utf8');
const first = { cert: read('first.crt'), key: read('first.key') };
const ca = [first.cert, read('second.crt')];

const routes: Route[] = [{ method: 'GET', path: '/hello', handler: (context) => context.text('hello') }];

beforeAll(() => configureLog('silent'));

async function start(limits: HttpServerOptions = {}): Promise<RunningServer> {
  const app = createApp({ routes });
  const serving = await serve({ app, host: '127.0.0.1', port: 0, limits, certificate: first, drainMs: 200 });
  onTestFinished(async () => void (await serving.close()));
  return serving;
}

async function get(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const sent = request(url, { ca, agent: false }).end();
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, body: await text(answer) };
}

/** Ends the handshake, and sends nothing. */
async function encrypt(url: string, ALPNProtocols: string[] = []): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const socket = connectTls({ host: hostname, port: Number(port), ca, ALPNProtocols });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

/** The name in the certificate that the server sends to a new connection. */
async function certificateName(url: string): Promise<string> {
  const socket = await encrypt(url);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

describe('a server with a certificate', () => {
  it('speaks HTTP/1.1 and HTTP/2, as the client asks for by ALPN', async () => {
    const { url } = await start();
    expect(url).toMatch(/^https:/);
    expect(await get(`${url}/hello`)).toEqual({ status: 200, body: 'hello' });
    const session = connectSession(url, { ca });
    const stream = openStream(session, { path: '/hello' });
    stream.end();
    expect(await readStream(stream)).toMatchObject({ status: 200, body: 'hello' });
    expect(session.alpnProtocol).toBe('h2');
    session.destroy();
    expect((await encrypt(url, ['http/1.1'])).alpnProtocol).toBe('http/1.1');
  });

  it("answers malformed bytes with the interface's error, encrypted", async () => {
    const socket = await encrypt((await start()).url);
    socket.write('GET /hello\r\n\r\n');
    expect(await readAnswer(socket)).toMatchObject({ status: 400 });
  });

  it('closes connections without TLS', async () => {
    const serving = await start();
    const socket = await openConnection(serving.url);
    socket.on('error', () => undefined).resume();
    socket.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'end');
    expect(await get(`${serving.url}/hello`)).toMatchObject({ status: 200 });
  });

  it('closes a connection whose client does not end the handshake in time', async () => {
    const socket = await openConnection((await start({ headersMs: 50 })).url);
    socket.on('error', () => undefined).resume();
    await once(socket, 'end');
  });

  it('counts connections that have not ended their handshake, and closes further ones of their client', async () => {
    const { url } = await start({ connections: 4, perClient: 2, headersMs: 600_000 });
    const sockets = await Promise.all(Array.from({ length: 3 }, () => openConnection(url, '127.0.0.2')));
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    const closed = () => sockets.filter((socket) => socket.readableEnded || socket.closed).length;
    await expect.poll(closed).toBe(1);
    expect(await get(`${url}/hello`)).toMatchObject({ status: 200 });
    expect(closed()).toBe(1);
    for (const socket of sockets) socket.destroy();
  });

  it('counts an encrypted connection once, and not after its end', async () => {
    const { url } = await start({ connections: 2, perClient: 2 });
    for (let count = 0; count < 10; count++) expect(await get(`${url}/hello`)).toMatchObject({ status: 200 });
    const [one, other] = [await encrypt(url), await encrypt(url)];
    for (const socket of [one, other]) {
      socket.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(await readAnswer(socket)).toMatchObject({ status: 200 });
    }
  });

  it.each([
    ['AES128-SHA:AES256-SHA256', false],
    ['AES128-GCM-SHA256:AES256-GCM-SHA384', false],
    ['ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA', false],
    ['DHE-RSA-AES128-GCM-SHA256', false],
    ['ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256', true],
  ])(
    'has suites with forward secrecy and authenticated encryption only, also when it is renewed: %s',
    async (suites, has) => {
      const serving = await start();
      const { hostname, port } = new URL(serving.url);
      const isTaken = async () => {
        const ciphers = `${suites}:@SECLEVEL=0`;
        const socket = connectTls({ host: hostname, port: Number(port), ca, ciphers, maxVersion: 'TLSv1.2' });
        onTestFinished(() => void socket.destroy());
        const outcome = [once(socket, 'secureConnect').then(() => true), once(socket, 'close').then(() => false)];
        return Promise.race(outcome).catch(() => false);
      };
      expect(await isTaken()).toBe(has);
      serving.renewCertificate(first);
      expect(await isTaken()).toBe(has);
    },
  );

  it('closes with connections of every state', async () => {
    const serving = await start();
    const handshaking = await openConnection(serving.url);
    const idle = await encrypt(serving.url);
    const closed = Promise.all([once(handshaking.resume(), 'end'), once(idle.resume(), 'end')]);
    expect(await serving.close()).toBe(0);
    await closed;
  });
});

describe('identity serve with TLS', () => {
  async function prepare() {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const files = { cert: `${directory.path}/tls.crt`, key: `${directory.path}/tls.key` };
    const use = async (name: string) => {
      await copyFile(fixture(`${name}.crt`), files.cert);
      await writeFile(files.key, read(`${name}.key`), { mode: 0o600 });
    };
    await use('first');
    const data = ['--data', `${directory.path}/data`];
    await init(data);
    return { data, files, use, options: ['--tls-cert-file', files.cert, '--tls-key-file', files.key] };
  }

  it('has another certificate after SIGHUP, and keeps the one that it has when the files do not serve', async () => {
    const { data, files, use, options } = await prepare();
    const running = await serveInstance(data, options);
    onTestFinished(async () => void (await running.stop()));
    const url = running.ready[1] ?? '';
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 });
    expect(await certificateName(url)).toBe('first');
    await use('second');
    process.kill(running.pid, 'SIGHUP');
    await expect.poll(() => certificateName(url)).toBe('second');
    await writeFile(files.cert, 'no certificate');
    process.kill(running.pid, 'SIGHUP');
    await expect.poll(() => running.stderr()).toContain('certificate not renewed');
    expect(running.stderr()).toContain('tls.crt of --tls-cert-file holds no PEM certificate');
    expect(await certificateName(url)).toBe('second');
  });

  it.each([
    ['the key of another certificate', 'second.key', "is not the key of .*tls.crt's certificate"],
    ['a key that is none', 'first.crt', 'holds no PEM private key without a passphrase'],
  ])('does not start with %s, and says so', async (_name, key, problem) => {
    const { data, files, options } = await prepare();
    await writeFile(files.key, read(key));
    const { code, stderr } = await identity(['serve', ...data, '--port', '0', ...options]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^identity: .*tls.key of --tls-key-file ${problem}\n$`)),
    });
  });

  it('does not start without one of the files', async () => {
    const { data, files } = await prepare();
    const alone = await identity(['serve', ...data, '--port', '0', '--tls-cert-file', files.cert]);
    expect(alone).toMatchObject({ code: 64, stderr: expect.stringContaining('TLS needs both') });
    const missing = ['--tls-cert-file', `${files.cert}.old`, '--tls-key-file', files.key];
    const { code, stderr } = await identity(['serve', ...data, '--port', '0', ...missing]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/tls.crt.old .* cannot be read: ENOENT/),
    });
  });
});
