import { describe, expect, it } from 'vitest';
import { defineCommand, flag, optional, repeatable, required } from '../../../cli/command.ts';
import { commands } from '../../../cli/commands.ts';
import { parseValues } from '../../../cli/parseValues.ts';
import { generateToken } from '../../../shared/auth/token.ts';

/** Parses a call, and returns the message of its error. */
async function messageOf(
  name: string,
  positionals: readonly string[],
  options: Readonly<Record<string, readonly string[]>>,
): Promise<string> {
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  try {
    await parseValues(command, { positionals, options });
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
  ] as const)('are valid in %s %j %j', async (name, positionals, options) => {
    expect(await messageOf(name, positionals, options)).toBe('');
  });

  it('are not repeated in the error where they are a token', async () => {
    const message = await messageOf('pat revoke', [generateToken()], {});
    expect(message).toMatch(/^invalid TOKEN_ID \(a token\): specify the 32 digits that identity pat list shows/);
  });
});

describe('the options of a command', () => {
  it('reach its function parsed, by the names that it describes, and no others', async () => {
    const options = {
      expires: optional('DURATION', ''),
      user: required('USER_ID', ''),
      org: repeatable('ORG_ID', ''),
      all: flag(''),
    };
    const command = defineCommand({
      name: 'pat try',
      summary: '',
      arguments: [required('FILE', ''), repeatable('WORD', '')],
      options,
      examples: ['pat try'],
      run: async ({ arguments: [file, words], options: given }) => {
        const user: string = given.user;
        // @ts-expect-error Nobody describes this option.
        const other: unknown = given.usr;
        return { json: { file, words, ...given, user, other }, text: '' };
      },
    });
    const positionals = ['a', 'b', 'c'];
    const parsed = await parseValues(command, { positionals, options: { expires: ['90m'], user: ['1'], all: [] } });
    expect(parsed).toEqual({
      arguments: ['a', ['b', 'c']],
      options: { expires: { text: '90m', milliseconds: 5_400_000 }, user: '1', org: [], all: true },
    });
  });
});
