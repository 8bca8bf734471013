const secrets: readonly RegExp[] = [
  /\bidpat_[\w-]+/g,
  /\bya29\.[\w.-]+/g,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /"private_key"\s*:\s*"[^"]*"?/g,
];

/** Replaces tokens and keys in the output of a program, which is not trusted to hide them. */
export function redact(text: string): string {
  return secrets.reduce((rest, pattern) => rest.replace(pattern, '…'), text);
}
