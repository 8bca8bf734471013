import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isFree } from '../../../tools/freePort.ts';
import { root, run, startProgram } from '../../../tools/program.ts';
import { expectError, exportFrom, removeOtpEmail, send } from '../../support/http/wire.ts';
import { type LocalStart, startLocal, threeFreePorts } from '../../support/instances/localStart.ts';
import { serverSettings } from '../../support/processes/programs.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

// Nothing in a path may keep a printed command from working.
const stateDirectory = "it's local";
const json = (text: string) => z.record(z.string(), z.unknown()).parse(JSON.parse(text));

/** Defines programs that log their arguments, as `ps` shows them; curl only reads what it is given to read. */
const logging = `
curl() {
  printf '%s\\n' "curl $*" >> arguments.log
  for argument in "$@"; do
    case "$argument" in
      @/dev/fd/*) command cat "\${argument#@}" > /dev/null ;;
      -) command cat > /dev/null ;;
    esac
  done
}
${['sed', 'cat', 'base64', 'tr'].map((name) => `${name}() { printf '%s\\n' "${name} $*" >> arguments.log; command ${name} "$@"; }`).join('\n')}
`;

/** Returns the programs that a shell command starts, with their arguments. */
async function startedBy(line: string, cwd: string): Promise<string> {
  const log = join(cwd, 'arguments.log');
  await rm(log, { force: true });
  const { code, stderr } = await run('bash', ['-c', `${logging}${line}`], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return readFile(log, 'utf8');
}

// Each test continues the previous test, like a user who follows the printed commands.
describe('npm start', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  let local: LocalStart | undefined;
  let first: LocalStart | undefined;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    const begin = performance.now();
    local = await startLocal({ directory: join(directory.path, stateDirectory), cwd: directory.path });
    first = local;
    process.stdout.write(`npm start was ready after ${Math.round(performance.now() - begin)} ms\n`);
  });
  afterAll(async () => {
    await local?.stop();
    await directory.remove();
  });

  const running = () => {
    if (local === undefined) throw new Error('it has not started');
    return local;
  };
  /** Pastes the command under a title into a shell, as it was printed. */
  const paste = async (title: string, status = 200) => {
    const lines = running().program.stdout().split('\n');
    const line = lines[lines.findIndex((text) => text.startsWith(`# ${title}`)) + 1] ?? '';
    expect(line).toMatch(/curl/);
    const { code, stdout, stderr } = await run('bash', ['-c', line], { cwd: directory.path });
    // A failed call must not look like one that has worked.
    const failed = { code: 22, stderr: `curl: (22) The requested URL returned error: ${status}\n` };
    expect({ code, stderr }).toEqual(status === 200 ? { code: 0, stderr: '' } : failed);
    return stdout;
  };

  it('prints all addresses, the token and how to stop', () => {
    const { program, sourceUrl, sourceToken, targetUrl, port } = running();
    const text = program.stdout();
    expect(text).toContain(`source  ${sourceUrl}`);
    expect(text).toContain(`target  ${targetUrl}`);
    expect(text).toContain(`storage http://127.0.0.1:${port + 2}`);
    expect(text).toContain(`docs    ${sourceUrl}/docs#token=${sourceToken}  `);
    expect(text).toContain('Ctrl-C stops everything.');
    expect(program.stderr()).toBe('');
  });

  it('serves the page at /docs, from both instances', async () => {
    const { sourceUrl, targetUrl } = running();
    for (const url of [sourceUrl, targetUrl]) {
      const { status, headers } = await send({ url }, { method: 'GET', path: '/docs' });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    }
  });

  it('leaves tokens, keys and locks that only their owner can read', async () => {
    for (const file of ['source/owner.pat', 'target/owner.pat', 'storage/key.json', 'source/serve.lock']) {
      const { mode } = await stat(join(directory.path, stateDirectory, file));
      expect(mode & 0o777, file).toBe(0o600);
    }
  });

  it('prints a command that exports everything of source into a file', async () => {
    expect(await paste('Export everything')).toBe('');
    const file = json(await readFile(join(directory.path, stateDirectory, 'export.json'), 'utf8'));
    expect(Object.keys(file)).toEqual(['orgs', 'manifest']);
    expect(file.manifest).toMatchObject({ instance: 'source', counts: { orgs: 3, humanUsers: 10 } });
  });

  it('prints a command that imports the file into target', async () => {
    const report = json(await paste('Import the file'));
    expect(report.errors).toBeUndefined();
    expect(report.summary).toMatchObject({ created: { org: 3, humanUsers: 10 }, failed: {}, proved: true });
  });

  it('prints commands whose programs have neither a token nor a key in their arguments', async () => {
    const { program, sourceToken, targetToken } = running();
    const lines = program
      .stdout()
      .split('\n')
      .filter((line) => /^(curl|\{)/.test(line));
    expect(lines.length).toBeGreaterThanOrEqual(5);
    const key = await readFile(join(directory.path, stateDirectory, 'storage', 'key.json'), 'base64');
    const secrets = [sourceToken.trim(), targetToken.trim(), key];
    for (const line of lines) {
      const started = await startedBy(line, directory.path);
      expect(started).toMatch(/^curl /m);
      expect(started).toMatch(/^sed /m);
      for (const secret of secrets) expect(started).not.toContain(secret.slice(0, 40));
    }
    expect(await startedBy(`curl "$(cat "${stateDirectory}/source/owner.pat")"`, directory.path)).toContain(secrets[0]);
  });

  it('prints a command that exports to the bucket, which works once', async () => {
    const written = json(await paste('Export to a bucket'));
    expect(written.object).toMatchObject({ bucket: 'identity-exports', path: 'export.json' });
    expect(json(await paste('Export to a bucket', 409))).toMatchObject({ code: 6 });
  });

  it('prints a command that imports from the bucket, which changes nothing', async () => {
    const { summary } = json(await paste('Import from the bucket'));
    expect(summary).toMatchObject({ created: {}, unchanged: { org: 3, humanUsers: 10 }, failed: {}, proved: true });
  });

  it('prints commands that remove the OTP e-mail factor of a person of target, and show so', async () => {
    expect(json(await paste('List the authentication methods')).details).toMatchObject({ totalResult: '3' });
    expect(json(await paste('Remove the OTP e-mail factor')).details).toMatchObject({ sequence: '2' });
    expect(json(await paste('Remove the OTP e-mail factor', 404))).toMatchObject({ code: 5 });
    expect(json(await paste('List the authentication methods')).details).toMatchObject({ totalResult: '2' });
  });

  it('refuses a second start on the same directory, and names the process', async () => {
    const env = { FIRESTORE_EMULATOR_HOST: undefined, LOCAL_DIR: join(directory.path, stateDirectory) };
    const port = String(await threeFreePorts());
    const start = [join(root, 'local', 'start.ts')];
    const { code, stderr } = await run(process.execPath, start, { env: { ...env, PORT: port } });
    expect(code).toBe(1);
    expect(stderr).toMatch(`process ${running().program.pid} already serves the instance in `);
  });

  it('ends with exit code 0 at SIGINT, and frees its ports', async () => {
    const { port, program } = running();
    const { code, stdout, stderr } = await program.stop('SIGINT');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\nstopping\n$/);
    expect(await Promise.all([port, port + 1, port + 2].map(isFree))).toEqual([true, true, true]);
  });

  it('goes on with its state when it is started again', async () => {
    local = await startLocal({ directory: join(directory.path, stateDirectory), cwd: directory.path });
    const { sourceToken, targetToken, targetUrl } = local;
    expect([sourceToken, targetToken]).toEqual([first?.sourceToken, first?.targetToken]);
    const target = { url: targetUrl, token: targetToken, database: undefined };
    expect((await exportFrom(target)).manifest.counts).toMatchObject({ orgs: 4, humanUsers: 10 });
    expectError(await removeOtpEmail(target, '330000000000000201'), 404, 5);
    expect(json(await paste('Export to a bucket', 409))).toMatchObject({ code: 6 });
    expect(json(await paste('Import from the bucket')).summary).toMatchObject({ created: {}, failed: {} });
  });

  it('ends at SIGTERM too', async () => {
    expect(await running().program.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});

it('npm start ends when the shell between npm and it is ended, which passes no signal on', async () => {
  const { path, remove } = await temporaryDirectory();
  const first = await threeFreePorts();
  const env = {
    ...serverSettings,
    FIRESTORE_EMULATOR_HOST: undefined,
    LOCAL_DIR: path,
    PORT: String(first),
    npm_lifecycle_event: 'start',
  };
  const program = `"${process.execPath}" "${join(root, 'tools', 'run.cjs')}" "${join(root, 'local', 'start.ts')}"; true`;
  const shell = await startProgram('sh', ['-c', program], /Ctrl-C stops/, { env });
  await shell.stop('SIGTERM');
  await expect.poll(shell.stdout, { timeout: 20_000 }).toMatch(/\nstopping\n$/);
  const ports = [first, first + 1, first + 2];
  await expect.poll(() => Promise.all(ports.map(isFree)), { timeout: 20_000 }).toEqual([true, true, true]);
  await remove();
});

describe('npm start with an unusable port', () => {
  it.each(['0', '65534', 'http', '-1', '80.5'])('rejects PORT=%s', async (port) => {
    const { path, remove } = await temporaryDirectory();
    const env = { PORT: port, LOCAL_DIR: path };
    const { code, stdout, stderr } = await run(process.execPath, [join(root, 'local', 'start.ts')], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`invalid PORT=${port}: set it to a number from 1 to 65533\n`);
    await remove();
  });

  it('reports the port in use, and the remedy', async () => {
    const { path, remove } = await temporaryDirectory();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const env = { PORT: String(port), LOCAL_DIR: path, FIRESTORE_EMULATOR_HOST: undefined };
    const { code, stderr } = await run(process.execPath, [join(root, 'local', 'start.ts')], { env });
    expect(code).toBe(1);
    expect(stderr).toBe(`port ${port} is in use: set PORT to a free port (three consecutive ports are needed)\n`);
    server.close();
    await remove();
  });
});
