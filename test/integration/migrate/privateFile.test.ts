import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { call } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTcpProxy } from '../../support/http/tcpProxy.ts';
import { betweenServers, exportFileWith } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

it.skipIf(process.platform !== 'linux')(
  'a migration keeps its export in a file without a name, which is gone after SIGKILL',
  async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const people = Array.from({ length: 2_000 }, (_, index) =>
      person(`p${index}`, { hashedPassword: { value: HASH } }),
    );
    const file = await exportFileWith(organisation('acme', { humanUsers: people }));
    await call(`import ${file} --to ${north.database} --with all`, 0);
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const args = ['migrate', ...betweenServers(north, { ...south, url: network.url }), '--with', 'all', '--yes'];
    await call(`${args.join(' ')} --dry-run`, 0);
    network.stall('up', Math.floor(network.bytes('up') / 2));
    const directory = await testDirectory();
    const [command, script] = identityProgram;
    const running = await startProgram(command, [script, ...args], /^/, { env: { TMPDIR: directory } });
    await network.struck();
    const opened = await readdir(`/proc/${running.pid}/fd`);
    const links = await Promise.all(
      opened.map((descriptor) => readlink(join(`/proc/${running.pid}/fd`, descriptor)).catch(() => '')),
    );
    const exported = links.filter((link) => link.startsWith(join(directory, 'identity-')));
    expect(exported).toEqual([expect.stringMatching(/ \(deleted\)$/)]);
    expect((await readdir(directory)).filter((name) => name.startsWith('identity-'))).toEqual([]);
    await running.stop('SIGKILL');
    expect(await readdir(directory)).toEqual([]);
  },
);
