import { expect, it } from 'vitest';
import { connectionError } from '../../../../cli/http/tls.ts';

it.each([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])('the error of an untrusted certificate contains %s and the remedy', async (code) => {
  const failure = Object.assign(new Error('failed'), { code });
  const error = await connectionError('https://id.example.com', failure, 'before its response');
  expect(error.message).toBe(
    `the certificate of https://id.example.com is not trusted (${code}): correct the certificate on the server, or set NODE_EXTRA_CA_CERTS to the PEM file of the certificate authority`,
  );
});
