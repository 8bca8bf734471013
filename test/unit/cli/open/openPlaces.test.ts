import { describe, expect, it } from 'vitest';
import { secretFiles } from '../../../../cli/open/openPlaces.ts';
import { parsePlace } from '../../../../cli/places/parsePlace.ts';
import type { SecretFiles } from '../../../../cli/places/placeOptions.ts';

function files(options: SecretFiles, from: string, to: string, isAsked = false) {
  const places = [
    { side: 'from', parsed: parsePlace(from) },
    { side: 'to', parsed: parsePlace(to) },
  ] as const;
  const found = secretFiles(options, places, isAsked);
  return places.map((place) => found.get(place)?.file);
}

const [north, south] = ['https://north.example.com', 'https://south.example.com'];

describe('the secret files of a command', () => {
  it.each([
    [{ 'token-file': 'a' }, north, 'b.json', ['a', undefined]],
    [{ 'token-file': 'a' }, 'b.json', south, [undefined, 'a']],
    [{ 'from-token-file': 'a', 'to-token-file': 'b' }, north, south, ['a', 'b']],
    [{ 'from-token-file': 'a', 'to-credentials-file': 'b' }, north, 'gs://exports/a', ['a', 'b']],
    [{ 'credentials-file': 'a' }, 'gs://exports/a', 'gs://exports/b', ['a', 'a']],
    [{ 'credentials-file': 'a', 'to-credentials-file': 'b' }, 'gs://exports/a', 'gs://exports/b', ['a', 'b']],
    [{}, 'gs://exports/a', 'sqlite:north', [undefined, undefined]],
  ])('are found for %j', (options, from, to, expected) => {
    expect(files(options, from, to)).toEqual(expected);
  });

  it.each([
    [{}, [undefined, undefined]],
    [{ 'from-token-file': 'a' }, ['a', undefined]],
  ])('are prompted for at a terminal if both sides need one, and the command line has %j', (options, expected) => {
    expect(files(options, north, south, true)).toEqual(expected);
  });

  it.each([
    [{}, north, 'a.json', /^missing option --token-file: the file with the token for https:\/\/north/],
    [
      { 'from-token-file': 'a' },
      north,
      south,
      /^missing option --to-token-file: the file with the token for https:\/\/south/,
    ],
    [
      { 'token-file': 'a' },
      north,
      south,
      /^this call needs two files, and --token-file specifies only one: specify --from-token-file and/,
    ],
    [
      { 'to-token-file': 'a', 'from-token-file': 'a' },
      north,
      'a.json',
      /^--to-token-file has no effect: omit the option, which applies only to an instance/,
    ],
    [
      { 'credentials-file': 'a' },
      'a.json',
      'b.json',
      /^--credentials-file has no effect: omit the option, which applies only to a gs:\/\/ place/,
    ],
  ])('are invalid for %j', (options, from, to, message) => {
    expect(() => files(options, from, to)).toThrow(message);
  });
});
