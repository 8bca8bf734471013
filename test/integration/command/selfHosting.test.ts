import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import packageFile from '../../../package.json' with { type: 'json' };
import { defaultLimits } from '../../../shared/limits.ts';
import { nodeMajor, readLockFile } from '../../../tools/build/deployedPackage.ts';
import { root, run, startProgram } from '../../../tools/program.ts';
import { eventsIn } from '../../support/audit/storedTrail.ts';
import { identity } from '../../support/command.ts';
import { init } from '../../support/instances/commandInstance.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const DATA = '/var/lib/identity';
const units = ['identity.service', 'identity-backup.service', 'identity-backup.timer', 'identity-audit.service'];
const readSelfHosting = (name: string) => readFile(join(root, 'hosting', name), 'utf8');
const systemd = await run('systemd-analyze', ['--version']).then(
  ({ code }) => code === 0,
  () => false,
);

const cursorOf = z.object({ cursor: z.string() });

/** An instance in a temporary directory. */
async function newInstance() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const data = join(directory.path, 'data');
  await init(['--data', data]);
  return { directory: directory.path, data };
}

/** Returns the environment of a unit whose configuration names the directory in which npm has installed the command. */
async function installedElsewhere(directory: string) {
  const prefix = join(directory, 'opt', 'node', 'bin');
  await mkdir(prefix, { recursive: true });
  await writeFile(join(prefix, 'identity'), `#!/bin/sh\nexec ${identityProgram.join(' ')} "$@"\n`, { mode: 0o755 });
  return { PATH: `${prefix}:/usr/bin:/bin` };
}

/** Starts what a file runs, but on another directory and port. */
async function start(
  words: readonly string[],
  replaced: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
) {
  const [program = '', ...args] = words.map((word) => replaced[word] ?? word);
  const running = await startProgram(program, args, /listening on (\S+)/, { env });
  onTestFinished(async () => void (await running.stop()));
  return running.ready[1] ?? '';
}

/** The words after an instruction of the Containerfile, which are JSON. */
function words(containerfile: string, instruction: string): readonly string[] {
  const [, list = ''] = new RegExp(`${instruction} (\\[.*\\])$`, 'm').exec(containerfile) ?? [];
  return z.array(z.string()).parse(JSON.parse(list));
}

describe('the units of systemd', () => {
  it('serve an instance, wherever npm has put the command', async () => {
    const { directory, data } = await newInstance();
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(await readSelfHosting('identity.service')) ?? [];
    const env = await installedElsewhere(directory);
    const url = await start(command.split(' '), { [DATA]: data, '8080': '0' }, env);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('write a backup under the time of day, and delete those that are older than 30 days', async () => {
    const { directory, data } = await newInstance();
    const unit = await readSelfHosting('identity-backup.service');
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
    const own = script.replaceAll('%%', '%').replace('/var/backups/identity', directory).replace(DATA, data);
    const env = await installedElsewhere(directory);
    expect(await run('/bin/sh', ['-c', own], { env })).toMatchObject({ code: 0 });
    const old = join(directory, 'old.backup');
    await writeFile(old, '');
    expect(await run('touch', ['-d', '40 days ago', old])).toMatchObject({ code: 0 });
    const [, find = '', deletion = ''] = /^ExecStartPost=(\S+) (.*)$/m.exec(unit) ?? [];
    expect(await run(find, deletion.replace('/var/backups/identity', directory).split(' '))).toMatchObject({ code: 0 });
    const { stdout } = await run('ls', [directory]);
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z\.backup\ndata\nopt\n$/);
    const backup = join(directory, stdout.split('\n')[0] ?? '');
    const restored = await identity(['restore', backup, '--data', `${directory}/new`, '--key', `${data}/master.key`]);
    expect(restored).toMatchObject({ code: 0 });
  });

  it('write the audit trail to the journal, and continue behind the last event in it', async () => {
    const { directory, data } = await newInstance();
    const unit = await readSelfHosting('identity-audit.service');
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
    // Otherwise the journal drops events, and a restart would go on behind the gap.
    expect(unit).toMatch(/^LogRateLimitIntervalSec=0$/m);
    const env = await installedElsewhere(directory);
    const journal = join(directory, 'journal');
    const journalctl = `#!/bin/sh\necho "$*" | grep -q -- "--reverse _SYSTEMD_UNIT=identity-audit.service$" && tac "${journal}"\n`;
    await writeFile(join(directory, 'opt', 'node', 'bin', 'journalctl'), journalctl, { mode: 0o755 });
    await writeFile(journal, '');
    const printed: string[] = [];
    for (const user of ['first', 'second']) {
      await identity(['user', 'lock', user, '--data', data]);
      const last = new RegExp(`"NOT_FOUND".*"target":"${user}".*\n`);
      const args = ['-c', script.replaceAll('$$', '$').replace(DATA, data)];
      const following = await startProgram('/bin/sh', args, last, { env });
      await following.stop();
      printed.push(following.stdout());
      await writeFile(journal, `${printed.join('')}${'a line of something else\n'.repeat(200)}`);
    }
    const events = printed.join('').trimEnd().split('\n');
    expect(events.map((line) => cursorOf.parse(JSON.parse(line)))).toEqual(
      (await eventsIn(data)).map(({ cursor }) => ({ cursor })),
    );
  });

  it.skipIf(!systemd)('are valid, and expose little (skipped where systemd-analyze is missing)', async () => {
    const files = units.map((name) => join(root, 'hosting', name));
    const { code, stderr } = await run('systemd-analyze', ['verify', ...files]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rated = await run('systemd-analyze', ['security', '--offline=true', '--threshold=15', files[0] ?? '']);
    expect(rated.code, rated.stdout).toBe(0);
  });
});

describe('the container', () => {
  it('serves an instance, and its health check sees that', async () => {
    const { data } = await newInstance();
    const containerfile = await readSelfHosting('Containerfile');
    expect(words(containerfile, '^ENTRYPOINT')).toEqual(['identity']);
    // On this machine, the network is that of other tests too.
    const replaced = { '/data': data, '8080': '0' };
    const [, proxies = ''] = /^ENV TRUSTED_PROXIES=(.*)$/m.exec(containerfile) ?? [];
    const env = { TRUSTED_PROXIES: proxies };
    const listening = await start([...identityProgram, ...words(containerfile, '^CMD')], replaced, env);
    const url = listening.replace('0.0.0.0', '127.0.0.1');
    const [, ...check] = words(containerfile, '^ +CMD');
    const at = (address: string) => check.map((word) => word.replace('http://127.0.0.1:8080', address));
    expect(await run(process.execPath, at(url))).toMatchObject({ code: 0 });
    expect(await run(process.execPath, at('http://127.0.0.1:1'))).toMatchObject({ code: 1 });
  });

  it('is built of what the repository has, for the Node of the lock file', async () => {
    const containerfile = await readSelfHosting('Containerfile');
    const images = Array.from(containerfile.matchAll(/^FROM (?:\$\{(\w+)\})?/gm), ([, argument]) => argument);
    expect(images).toEqual(['NODE_IMAGE', 'NODE_IMAGE']);
    const image = `docker.io/library/node:${nodeMajor(await readLockFile())}-slim`;
    expect(containerfile).toMatch(new RegExp(`^ARG NODE_IMAGE=${image}$`, 'm'));
    expect(await readSelfHosting('compose.yaml')).toMatch(new RegExp(`NODE_IMAGE: \\$.NODE_IMAGE:-${image}}$`, 'm'));
    const sources = Array.from(containerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm), ([, names = '']) =>
      names.split(' '),
    );
    for (const name of sources.flat()) await access(join(root, name));
    const scripts = Array.from(containerfile.matchAll(/npm run (\S+)/g), ([, script = '']) => script);
    expect(Object.keys(packageFile.scripts)).toEqual(expect.arrayContaining(scripts));
    expect(scripts).not.toEqual([]);
  });

  it('runs as a user of its own, which owns its volumes', async () => {
    const containerfile = await readSelfHosting('Containerfile');
    const [, uid = '', gid = ''] = /^USER (\d+):(\d+)$/m.exec(containerfile) ?? [];
    expect(Number(uid)).toBeGreaterThan(1000);
    expect(containerfile).toContain(`groupadd --gid ${gid} identity `);
    expect(containerfile).toContain(`useradd --uid ${uid} --gid identity `);
    expect(containerfile).toMatch(/install --directory --owner=identity --group=identity --mode=0700 (.*)$/m);
    const [, owned = ''] = /--mode=0700 (.*)$/m.exec(containerfile) ?? [];
    expect(words(containerfile, '^VOLUME')).toEqual(owned.split(' '));
  });

  it('and its proxy have a read-only root, limits, and no rights but to the ports', async () => {
    const [, list = ''] = (await readSelfHosting('compose.yaml')).split(/^(?:services|volumes):$/m);
    const services = list.split(/^ {2}(?=\w+:$)/m).slice(1);
    expect(services.map((service) => service.split(':')[0])).toEqual(['identity', 'caddy']);
    for (const service of services) {
      for (const setting of ['read_only: true', 'cap_drop: [ALL]', "security_opt: ['no-new-privileges:true']"])
        expect(service).toContain(`    ${setting}\n`);
      expect(service).toMatch(/^ {4}mem_limit: \d+[mg]$/m);
      expect(service).toMatch(/^ {4}pids_limit: \d+$/m);
    }
    expect(list.match(/cap_add: .*/g)).toEqual(['cap_add: [NET_BIND_SERVICE]']);
  });
});

it('the name that each command of compose needs is set before the first one', async () => {
  const document = await readFile(join(root, 'docs/self-hosting.md'), 'utf8');
  const [, commands = ''] = /\ncd hosting\n([^`]*)```/.exec(document) ?? [];
  expect(await readSelfHosting('compose.yaml')).toMatch(/\$\{IDENTITY_NAME:\?/);
  expect(commands).toMatch(/^echo IDENTITY_NAME=\S+ > \.env\n/);
});

it('Caddy leaves the response to a body above the limit to the service', async () => {
  const [, megabytes] = /max_size (\d+)MB/.exec(await readSelfHosting('Caddyfile')) ?? [];
  expect(Number(megabytes) * 1_000_000).toBeGreaterThanOrEqual(1.1 * defaultLimits('selfHosted').requestBytes);
});

describe('the file of settings', () => {
  it('is made for root only, before the units that read it', async () => {
    const document = await readFile(join(root, 'docs/self-hosting.md'), 'utf8');
    const made = document.indexOf('install --mode=0600 /dev/null /etc/identity.conf\n');
    expect(made).toBeGreaterThan(-1);
    expect(made).toBeLessThan(document.indexOf('systemctl enable'));
  });
});
