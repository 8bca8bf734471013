import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../../tools/verifyCloud/options.ts';
import { redact } from '../../../../tools/verifyCloud/redact.ts';

const required = ['--project', 'acme-verify', '--domain', 'verify.example.com'];

describe('the options of a run', () => {
  it('need a project and a domain, and apply nothing by default', () => {
    expect(readOptions(required)).toEqual({
      project: 'acme-verify',
      domain: 'verify.example.com',
      region: 'europe-west1',
      includesHour: false,
      applies: false,
    });
    expect(readOptions([...required, '--apply', '--hour', '--region', 'us-east4'])).toMatchObject({
      region: 'us-east4',
      includesHour: true,
      applies: true,
    });
  });

  it.each([
    [[], '--project is missing or invalid'],
    [['--project', 'acme-verify'], '--domain is missing or invalid'],
    [['--project', 'A; rm', '--domain', 'a.example'], '--project is missing or invalid'],
    [[...required, '--region', 'Europe'], '--region is missing or invalid'],
    [[...required, '--yes'], "Unknown option '--yes'"],
    [[...required, 'now'], "Unexpected argument 'now'"],
  ])('reject %j', (args, problem) => {
    expect(readOptions(args)).toEqual({ usage: expect.stringContaining(problem) });
  });
});

describe('redaction', () => {
  it('hides tokens and keys, and nothing else', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----';
    const text = `a idpat_x-Y_1 b ya29.a-B c eyJhbGciOi.eyJpc3Mi.c2lnbg d ${key} e {"private_key": "-----BEG\\n", "kid": "1"}`;
    expect(redact(text)).toBe('a … b … c … d … e {…, "kid": "1"}');
  });
});
