// What the engine of Chrome's developer tools sees in a trace: it pairs the beginnings and ends of
// asynchronous events by their ids, and names processes.
import { readFileSync } from 'node:fs';
import { polyfillDOMRect } from '@paulirish/trace_engine/analyze-trace.mjs';
import * as Trace from '@paulirish/trace_engine/models/trace/trace.js';

polyfillDOMRect();
const { traceEvents } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const processor = Trace.Processor.TraceProcessor.createWithAllHandlers();
await processor.parse(traceEvents, {});
const { Meta } = processor.data ?? processor.parsedTrace;
const { isPhaseAsync } = Trace.Types.Events;
const paired = traceEvents.filter((event) => isPhaseAsync(event.ph));
const slices = Trace.Helpers.Trace.createMatchedSortedSyntheticEvents(paired);
console.log(JSON.stringify({
  processes: [...Meta.processNames.keys()].sort(),
  slices: slices.map(({ pid, name, ts, dur, args }) => {
    const { seq, status } = args.data.beginEvent.args;
    return { pid, name, ts, dur, seq, status };
  }),
}));
