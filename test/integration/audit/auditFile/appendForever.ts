import { AuditFile } from '../../../../shared/audit/file/auditFile.ts';

// Appends events, and prints the number of each one that is durable, until it is killed.
const [directory = '', name = '', maxBytes = ''] = process.argv.slice(2);
const trail = new AuditFile(directory, { maxBytes: Number(maxBytes) });
for (let number = 0; ; number++) {
  await trail.append({ time: new Date().toISOString(), event: name, outcome: 'ok', requestId: String(number) });
  process.stdout.write(`${number}\n`);
}
