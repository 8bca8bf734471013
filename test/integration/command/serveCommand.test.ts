import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { call, identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFrom, importInto } from '../../support/http/wire.ts';
import { init, serve } from '../../support/instances/commandInstance.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** A file of Linux that takes nothing. */
const FULL_DEVICE = '/dev/full';

describe('identity serve', () => {
  it.each([
    ['SIGTERM', { BCRYPT_COST: '10' }, /^\$2b\$10\$/],
    ['SIGINT', { BCRYPT_COST: '11' }, /^\$2b\$11\$/],
  ] as const)('exits with 0 at %s, and applies the settings %j', async (signal, env, format) => {
    const { path, remove } = await temporaryDirectory();
    const { token } = await init(['--data', path]);
    const running = await serve(['--data', path], [], env);
    const instance = { url: running.ready[1] ?? '', token, database: undefined };
    expect((await fetch(`${instance.url}/health`)).headers.get('keep-alive')).toBe('timeout=620');
    const people = organisation('O', { humanUsers: [person('A', { password: 'Password1!' })] });
    await importInto(instance, { timeout: '1m', data_orgs: { orgs: [people] } });
    const { orgs } = await exportFrom(instance, { org_ids: ['O'], with_passwords: true });
    const user = { hashedPassword: { value: expect.stringMatching(format) } };
    expect(orgs).toMatchObject([{ humanUsers: [{ user }] }]);
    // Its workers are idle, and its connection too.
    const { code, stderr } = await running.stop(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Error') });
    await remove();
  });

  it.each(['npm', "npm's shell"])('ends when SIGTERM ends %s', async (ended) => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const args = ['run', '--silent', 'identity', '--', 'serve', '--data', path, '--port', '0'];
    const running = await startProgram('npm', args, /listening on (http:\S+)/);
    const [shell = ''] = execFileSync('ps', ['-o', 'pid=', '--ppid', String(running.pid)], { encoding: 'utf8' }).split(
      '\n',
    );
    process.kill(ended === 'npm' ? running.pid : Number(shell), 'SIGTERM');
    // The end of the output shows that the server has ended.
    await running.ended();
    await expect(fetch(`${running.ready[1]}/health`)).rejects.toThrow('fetch failed');
    await call(`org list --data ${path}`, 0);
    await remove();
  });

  it('prints its addresses as one JSON document with --json', async () => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const [command, script] = identityProgram;
    const args = [script, 'serve', '--data', path, '--port', '0', '--json'];
    const running = await startProgram(command, args, /^.*\n/, { env: { METRICS_PORT: '0' } });
    const address = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/);
    expect(JSON.parse((await running.stop()).stdout)).toEqual({ url: address, metrics: address });
    await remove();
  });

  it.skipIf(!existsSync(FULL_DEVICE))('keeps running where its log is on a full disk', async () => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const [command, script] = identityProgram;
    const log = openSync(FULL_DEVICE, 'w');
    const args = [script, 'serve', '--data', path, '--port', '0'];
    const running = await startProgram(command, args, /http:\S+/, { stderr: log });
    for (let request = 0; request < 50; request++) expect((await fetch(`${running.ready[0]}/health`)).status).toBe(200);
    expect(await running.stop()).toMatchObject({ code: 0 });
    closeSync(log);
    await remove();
  });

  it('refuses a directory that another process serves, until that one is killed, and lets commands run beside it', async () => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const first = await serve(['--data', path]);
    const remedy = 'use that server, or stop it first; commands other than `identity serve` can run at the same time';
    const stderr = `identity: process ${first.pid} already serves the instance in ${path}: ${remedy}\n`;
    expect(await identity(['serve', '--data', path, '--port', '0'])).toMatchObject({ code: 1, stdout: '', stderr });
    await call(`org list --data ${path}`, 0);
    await first.stop('SIGKILL');
    expect(await (await serve(['--data', path])).stop()).toMatchObject({ code: 0 });
    await remove();
  });

  it('prints one line with the problem and the remedy if it cannot start', async () => {
    const { path, remove } = await temporaryDirectory();
    await init(['--data', path]);
    const other = await temporaryDirectory();
    await init(['--data', other.path]);
    const running = await serve(['--data', other.path]);
    const port = new URL(running.ready[1] ?? '').port;
    // The port of the metrics is open by then, and must not keep the process alive.
    const env = { METRICS_PORT: '0', LOG_LEVEL: 'error' };
    const taken = await identity(['serve', '--data', path, '--port', port], { env });
    const advice = 'stop the program that listens there, or choose another port with --port (0 selects a free port)';
    const stderr = `identity: port ${port} is in use: ${advice}\n`;
    expect(taken).toMatchObject({ code: 1, stdout: '', stderr });
    const open = await identity(['serve', '--data', path, '--port', '0', '--host', '0.0.0.0']);
    const remedy =
      'put a TLS proxy in front of this server, such as Caddy with hosting/Caddyfile, and set TRUSTED_PROXIES=1';
    expect(open).toMatchObject({ code: 1, stderr: `identity: other machines can reach 0.0.0.0: ${remedy}\n` });
    const behind = { env: { TRUSTED_PROXIES: '1' } };
    const foreign = await identity(['serve', '--data', path, '--port', '0', '--host', '192.0.2.1'], behind);
    expect(foreign).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'identity: this machine has no address 192.0.2.1: choose one of its addresses with --host, such as 127.0.0.1\n',
    });
    const configured = await identity(['serve', '--data', path], { env: { LOG_LEVEL: 'loud' } });
    expect(configured).toMatchObject({ code: 64, stderr: expect.stringMatching(/LOG_LEVEL must be one of/) });
    expect(configured.stderr).not.toMatch(/^\s+at /m);
    await running.stop();
    await other.remove();
    await remove();
  });
});
