import { randomOf } from '../../faults/support/random.ts';
import { attacks } from './attackTable.ts';

// `node attacker.ts NAME URL TOKEN`: attacks the server until the process is ended.

const [, , name = '', url = '', token = ''] = process.argv;
const attack = attacks.find((one) => one.name === name);
if (attack === undefined) throw new Error(`no attack is called ${name}`);
process.stdout.write('attacking\n');
await attack.run({ url, token }, randomOf(name));
