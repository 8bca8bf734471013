import { expect, it, onTestFinished } from 'vitest';
import { noteProgram } from '../../../../cli/terminal/callTexts.ts';
import { printableJson } from '../../../../cli/terminal/terminal.ts';

it('the messages of JSON call the command as this process was started, and other fields are unchanged', () => {
  onTestFinished(() => noteProgram({}, []));
  noteProgram({ npm_lifecycle_event: 'identity' }, ['compare']);
  const text = 'identity compare compares them';
  const printed: unknown = JSON.parse(printableJson({ warnings: [{ message: text }], name: text }));
  expect(printed).toEqual({ warnings: [{ message: `npm run -s ${text.replace(' ', ' -- ')}` }], name: text });
});
