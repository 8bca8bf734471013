import type { ExportContent } from './place.ts';
import type { RecordCounter } from './recordCounter.ts';

/** Counts the records of content when it is read for the first time. The content's owner disposes of it. */
export function countedContent(content: ExportContent, counter: RecordCounter): ExportContent {
  let isFirst = true;
  return {
    isRepeatable: content.isRepeatable,
    open(signal) {
      const bytes = content.open(signal);
      const result = isFirst ? counter.count(bytes) : bytes;
      isFirst = false;
      return result;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
