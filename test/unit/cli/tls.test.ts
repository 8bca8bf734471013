import { expect, it } from 'vitest';
import { connectionError, trustAuthorities } from '../../../cli/tls.ts';

it.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'is of an unknown authority (SELF_SIGNED_CERT_IN_CHAIN): name the file with'],
  ['CERT_HAS_EXPIRED', "has expired: renew it, or correct this machine's clock"],
  ['CERT_NOT_YET_VALID', "is not valid yet: correct this machine's clock"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "is another host's: specify the host that the certificate names"],
])('says what is wrong with a certificate: %s', async (code, problem) => {
  const error = await connectionError('https://id.example.com', Object.assign(new Error('failed'), { code }));
  expect(error.message).toContain(`the certificate of https://id.example.com ${problem}`);
});

it('names the option and the file of authorities that cannot be read', async () => {
  await expect(trustAuthorities('/nonexistent.pem')).rejects.toThrow(
    /^\/nonexistent\.pem of --ca-file cannot be read: ENOENT/,
  );
});
