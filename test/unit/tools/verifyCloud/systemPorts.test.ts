import { readFile, stat } from 'node:fs/promises';
import { createServer, globalAgent, type Server } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceAccount } from '../../../../local/storage/serviceAccountKey.ts';
import { readSignedToken } from '../../../../local/storage/signedToken.ts';
import { root } from '../../../../tools/program.ts';
import { bearerToken } from '../../../../tools/verifyCloud/bearerToken.ts';
import { systemPorts } from '../../../../tools/verifyCloud/systemPorts.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../support/processes/temporaryDirectory.ts';

let directory: TemporaryDirectory = { path: '', remove: async () => {} };
const file = (name: string) => join(directory.path, name);
const never = new AbortController().signal;

beforeAll(async () => {
  directory = await temporaryDirectory();
  await systemPorts.write(file('token'), 'secret-token\n');
});
afterAll(() => directory.remove());

const node = (script: string, env?: Readonly<Record<string, string>>) =>
  ({
    kind: 'command',
    program: process.execPath,
    args: ['-e', script],
    ...(env === undefined ? {} : { env }),
  }) as const;

describe('the programs of a run', () => {
  it('get secrets in variables, not in arguments', async () => {
    const script = 'console.log(process.env.TOKEN, process.env.URL, process.argv.join()); process.exitCode = 7';
    const ended = await systemPorts.run(node(script, { TOKEN: `@${file('token')}`, URL: 'https://a' }), never);
    expect(ended).toMatchObject({ code: 7, stderr: '' });
    expect(ended.stdout).toMatch(/^secret-token https:\/\/a (?!.*secret)/);
  });

  it('get one interrupt, and are awaited', async () => {
    const stop = new AbortController();
    const ready = file('ready');
    const script = `let count = 0;
      process.on('SIGINT', () => { count += 1; setTimeout(() => { console.log('saved', count); process.exit(0); }, 50); });
      setInterval(() => {}, 1000);
      require('node:fs').writeFileSync(${JSON.stringify(ready)}, '');`;
    const running = systemPorts.run(node(script), stop.signal);
    await expect
      .poll(
        () =>
          stat(ready).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    stop.abort();
    expect(await running).toEqual({ code: 0, stdout: 'saved 1\n', stderr: '' });
  });

  it('fail where they are not installed', async () => {
    const command = { kind: 'command', program: 'no-such-program', args: [] } as const;
    await expect(systemPorts.run(command, never)).rejects.toThrow('ENOENT');
  });
});

describe('the files of a run', () => {
  it('are for their owner only, and replace none', async () => {
    expect((await stat(file('token'))).mode & 0o777).toBe(0o600);
    await expect(systemPorts.write(file('token'), 'other')).rejects.toThrow('EEXIST');
  });
});

describe('the tokens of a run', () => {
  it('are read from files, or signed with a key as Cloud Storage would verify them', async () => {
    const account = await createServiceAccount({ file: file('importer.json'), name: 'importer' });
    const known = [{ ...account, roles: ['objectViewer'], buckets: ['bucket'] }] as const;
    expect(await bearerToken({ tokenFile: file('token') })).toBe('secret-token');
    const [scope, audience] = [
      await bearerToken({ keyFile: file('importer.json'), as: 'scope' }),
      await bearerToken({ keyFile: file('importer.json'), as: 'audience' }),
    ];
    expect(readSignedToken(scope, known)).toMatchObject({
      kid: account.keyId,
      scope: 'https://www.googleapis.com/auth/devstorage.read_only',
    });
    const withAudience = { kid: account.keyId, aud: 'https://storage.googleapis.com/' };
    expect(readSignedToken(audience, known)).toMatchObject(withAudience);
    expect(readSignedToken(scope, known)).not.toHaveProperty('aud');
    expect(readSignedToken(audience, known)).not.toHaveProperty('scope');
  });
});

describe('the requests of a run', () => {
  let server: Server | undefined;
  let url = '';
  const { ca } = globalAgent.options;
  beforeAll(async () => {
    const [cert, key] = await Promise.all(
      ['first.crt', 'first.key'].map((name) => readFile(join(root, 'test/fixtures/tls', name), 'utf8')),
    );
    globalAgent.options.ca = cert;
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server = createServer({ cert, key }, (request, response) => {
      const { authorization = '', 'content-length': length = '' } = request.headers;
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': 1_000 });
        response.write('half', () => response.destroy());
      } else if (request.url === '/stream') {
        response.write('streamed');
        response.end();
      } else {
        request.resume().on('end', () => {
          const text = JSON.stringify({ authorization, length });
          response.writeHead(413, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
        });
      }
    }).listen(0, '127.0.0.1', resolve);
    await listening;
    const address = server.address();
    url = `https://localhost:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(async () => {
    globalAgent.options.ca = ca;
    server?.closeAllConnections();
    server?.close();
  });
  const request = (path: string) => ({ kind: 'request', method: 'GET', url: `${url}${path}` }) as const;

  it('carry the token and the body, and have the whole reply', async () => {
    const body = { shown: '3 bytes', create: () => '{ }' };
    const sent = { ...request('/'), method: 'POST', authorization: { tokenFile: file('token') }, body } as const;
    const reply = await systemPorts.send(sent, never);
    expect(reply).toMatchObject({ status: 413, contentType: 'application/json' });
    expect(JSON.parse(reply.text)).toEqual({ authorization: 'Bearer secret-token', length: '3' });
    expect([reply.announcedBytes, reply.broken]).toEqual([reply.text.length, undefined]);
  });

  it('tell a streamed reply, a cut one and none apart', async () => {
    expect(await systemPorts.send(request('/stream'), never)).toMatchObject({
      text: 'streamed',
      announcedBytes: undefined,
    });
    const cut = await systemPorts.send(request('/cut'), never);
    expect(cut).toMatchObject({ status: 200, announcedBytes: 1_000, text: 'half', broken: 'aborted' });
    const nobody = { ...request('/'), url: 'https://localhost:1/' };
    expect(await systemPorts.send(nobody, never)).toMatchObject({ status: undefined, broken: expect.any(String) });
  });

  it('end with the run', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(systemPorts.send(request('/'), stop.signal)).rejects.toThrow('stopped');
  });
});
