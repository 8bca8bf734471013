import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsePlace, requireRereadable } from '../../../../cli/places/parsePlace.ts';
import { isUsageError, usageError } from '../../../../cli/terminal/command.ts';
import { testDirectory } from '../../../support/places/servedPlace.ts';

describe('a place', () => {
  it('that is standard input or output cannot be read twice', () => {
    const message =
      'this command reads its places more than once, which - (standard input or output) does not permit: specify a file';
    for (const places of [
      ['-', 'north.json'],
      ['north.json', '-'],
    ])
      expect(() => requireRereadable(...places)).toThrow(usageError(message));
    expect(() => requireRereadable('north.json', 'sqlite:north')).not.toThrow();
  });

  it.each([
    ['-', { kind: 'stream' }],
    ['north.json', { kind: 'file', path: 'north.json' }],
    ['./a b/north.JSON.GZ', { kind: 'file', path: './a b/north.JSON.GZ' }],
    ['C:\\exports\\north.json', { kind: 'file', path: 'C:\\exports\\north.json' }],
    ['https://id.example.com', { kind: 'instance', origin: 'https://id.example.com' }],
    ['HTTPS://ID.example.com:8443/', { kind: 'instance', origin: 'https://id.example.com:8443' }],
    ['http://127.0.0.1:8080', { kind: 'instance', origin: 'http://127.0.0.1:8080' }],
    ['http://127.1.2.3', { kind: 'instance', origin: 'http://127.1.2.3' }],
    ['http://localhost:8080', { kind: 'instance', origin: 'http://localhost:8080' }],
    ['http://[::1]:8080', { kind: 'instance', origin: 'http://[::1]:8080' }],
    ['gs://exports/2026/north.json', { kind: 'object', bucket: 'exports', path: '2026/north.json' }],
    ['sqlite:./north', { kind: 'database', data: './north' }],
    ['firestore:my-project', { kind: 'database', firestore: 'my-project/(default)' }],
    ['firestore:my-project/north', { kind: 'database', firestore: 'my-project/north' }],
  ])('can be %s', (text, place) => {
    expect(parsePlace(text)).toMatchObject(place);
  });

  it('can be an existing file of any name', async () => {
    const path = join(await testDirectory(), 'exported users.csv');
    expect(() => parsePlace(path)).toThrow(/is not a place/);
    await writeFile(path, '');
    expect(parsePlace(path)).toEqual({ name: path, kind: 'file', path });
    expect(() => parsePlace(dirname(path))).toThrow(/ is a directory: specify a file in it, or sqlite:DIR /);
  });

  it.each([
    ['https://h.example.com', 'https://H.example.com:443/'],
    ['http://localhost', 'http://localhost:80/'],
    ['firestore:p', 'firestore:p/(default)'],
    ['sqlite:north', 'sqlite:./north/'],
    ['north.json', './a/../north.json'],
    ['gs://exports/north.json', 'GS://exports/north.json'],
  ])('has the same name as %s and %s', (one, other) => {
    expect(parsePlace(one).name).toBe(parsePlace(other).name);
  });

  it.each([
    ['https://h.example.com', 'https://h.example.com:8443'],
    ['firestore:p', 'firestore:p/north'],
    ['gs://exports/north.json', 'gs://exports//north.json'],
    ['north.json', 'North.json'],
  ])('has another name as %s than as %s', (one, other) => {
    expect(parsePlace(one).name).not.toBe(parsePlace(other).name);
  });

  it.each([
    ['id.example.com', /^"id.example.com" is not a place: specify https:\/\/HOST, FILE\.json, /],
    ['north', /is not a place/],
    ['constructor:x', /^unknown kind of place constructor: specify https:\/\/HOST/],
    ['s3://exports/north.json', /^unknown kind of place s3: specify https:\/\/HOST/],
    ['http://id.example.com', /would send the token unencrypted: specify https:\/\/id\.example\.com$/],
    ['http://127.example.com', /would send the token unencrypted/],
    ['http://192.168.0.1', /would send the token unencrypted/],
    ['https://id.example.com/ui/console', /contains more than the host: specify https:\/\/id\.example\.com$/],
    ['https://id.example.com?a=b', /contains more than the host/],
    ['https://', /URL of an instance is invalid/],
    ['gs://exports', /path: must have 1 to 1024 bytes in UTF-8: specify gs:\/\/BUCKET\/PATH$/],
    ['gs://Exports/a.json', /bucket: must consist of/],
    ['sqlite:', /^sqlite: has no database: add a directory$/],
    ['firestore:', /^firestore: has no database: add PROJECT or PROJECT\/DATABASE$/],
    ['firestore:a/b/c', /specify firestore:PROJECT or firestore:PROJECT\/DATABASE$/],
  ])('cannot be %s', (text, message) => {
    expect(() => parsePlace(text)).toThrow(expect.toSatisfy(isUsageError));
    expect(() => parsePlace(text)).toThrow(message);
  });

  it('never repeats a password of a URL', () => {
    const parse = () => parsePlace('https://ada:secret@id.example.com');
    expect(parse).toThrow(
      /^the URL of id\.example\.com contains a user name or password: specify the token with --token-file$/,
    );
  });
});
