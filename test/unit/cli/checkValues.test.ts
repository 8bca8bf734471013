import { describe, expect, it } from 'vitest';
import { checkValues } from '../../../cli/checkValues.ts';
import { commands } from '../../../cli/commands.ts';
import { commonOptions } from '../../../cli/usage.ts';
import { generateToken } from '../../../shared/auth/token.ts';

/** Checks a call, and returns the message of its error. */
function messageOf(name: string, positionals: readonly string[], options: Readonly<Record<string, string[]>>): string {
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  try {
    checkValues(command, [...command.options, ...commonOptions(command)], { positionals, options });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('the values of a call', () => {
  it.each([
    ['pat list', [], { user: ['x'] }],
    ['user lock', ['x'.repeat(200)], { data: ['x'] }],
    ['user lock', ['𝔘'.repeat(200)], { data: ['x'] }],
    ['serve', [], { host: ['::1'], port: ['0'] }],
    ['serve', [], { host: ['localhost'], port: ['65535'] }],
    ['pat create', [], { user: ['1'], org: ['1', '2'], expires: ['45m'], only: ['otp-email'] }],
    ['init', [], { firestore: ['project/north'] }],
    ['member add', [], { user: ['1'], role: ['ORG_OWNER'] }],
  ] as const)('are valid in %s %j %j', (name, positionals, options) => {
    const lists = Object.fromEntries(Object.entries(options).map(([key, values]) => [key, [...values]]));
    expect(messageOf(name, positionals, lists)).toBe('');
  });

  it.each([
    ['serve', [], { host: ['two words'] }, 'invalid --host "two words": specify an address of this machine'],
    ['serve', [], { port: ['-1'] }, 'invalid --port -1: specify a number from 0 to 65535'],
    ['pat list', [], { user: ['a'.repeat(201)] }, /^invalid --user a+: specify an id of 1 to 200 characters$/],
    ['pat list', [], { user: ['\u001b[2J'.repeat(60)] }, /^invalid --user "\\u001b/],
    ['pat create', [], { user: ['1'], org: ['1', ''] }, 'invalid --org "": specify an id of 1 to 200 characters'],
    ['pat create', [], { user: ['--org'] }, 'missing value of --user, before --org'],
  ] as const)('are invalid in %s %j %j', (name, positionals, options, message) => {
    const lists = Object.fromEntries(Object.entries(options).map(([key, values]) => [key, [...values]]));
    if (typeof message === 'string') expect(messageOf(name, positionals, lists)).toContain(message);
    else expect(messageOf(name, positionals, lists)).toMatch(message);
  });

  it('are not repeated in the error where they are a token', () => {
    const message = messageOf('pat revoke', [generateToken()], {});
    expect(message).toMatch(/^invalid TOKEN_ID \(a token\): specify the 32 digits that identity pat list shows/);
  });
});
