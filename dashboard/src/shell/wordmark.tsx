import { sharedStrings } from '../strings/shared.ts';

/** The product name with its logo. */
export function Wordmark() {
  return (
    <span className="flex items-center gap-2.5">
      <img src="/static/icon.svg" alt="" width={26} height={26} />
      <span className="text-[1.05rem] font-semibold tracking-tight">{sharedStrings.product}</span>
    </span>
  );
}
