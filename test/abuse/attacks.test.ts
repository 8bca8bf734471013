import { describe, expect, it, onTestFinished } from 'vitest';
import { root, startProgram } from '../../tools/program.ts';
import { attacks, noteServed } from './attack/attackTable.ts';
import { serviceOfOthers } from './attack/victims.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';
import { sizes } from './support/abuseTable.ts';

const ATTACKER = '127.0.9.1';
/** A new process takes longer for its first requests, attacked or not. */
const WARM_UP_MS = 2_000;

/** One of the addresses of the others. */
const addressOf = (index: number) => `127.0.${10 + (index >> 7)}.${1 + (index & 127)}`;
const certificate = ['--tls-cert-file', 'test/fixtures/tls/first.crt', '--tls-key-file', 'test/fixtures/tls/first.key'];
const tries = attacks.flatMap((attack) => [false, true].map((isEncrypted) => ({ ...attack, isEncrypted })));

describe('others are served', () => {
  it.for(tries)('while a stranger attacks with $name (TLS: $isEncrypted)', async (attack, context) => {
    const { name, env = {}, isEncrypted } = attack;
    const server = await startAbusedSqlite(env, isEncrypted ? certificate : []);
    await serviceOfOthers(server, WARM_UP_MS, addressOf);
    const script = `${root}test/abuse/attack/attacker.ts`;
    const attacker = await startProgram(process.execPath, [script, name, server.url, ATTACKER], /attacking/);
    onTestFinished(async () => void (await attacker.stop('SIGKILL')));
    const service = await serviceOfOthers(server, sizes.attackMs, addressOf);
    expect(service.failed).toEqual([]);
    expect(service.requests).toBeGreaterThan(20);
    noteServed(context, { name, isEncrypted, service });
  });
});
