import { create } from 'qrcode';
import { useMemo } from 'react';

/** White cells around the code, without which phones do not find it (ISO/IEC 18004). */
const QUIET = 4;

/** A QR code, black on white in both themes for scanners. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => qrPath(text), [text]);
  const whole = size + 2 * QUIET;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`${-QUIET} ${-QUIET} ${whole} ${whole}`}
      shapeRendering="crispEdges"
      className="aspect-square w-full max-w-72 rounded-lg bg-white text-black"
    >
      <path d={path} fill="currentColor" />
    </svg>
  );
}

/** Draws all dark cells as one path: a thousand elements would be slow to replace. */
function qrPath(text: string): { readonly size: number; readonly path: string } {
  const { modules } = create(text, { errorCorrectionLevel: 'L' });
  const { size } = modules;
  const cells: string[] = [];
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) if (modules.get(row, column)) cells.push(`M${column} ${row}h1v1h-1z`);
  return { size, path: cells.join('') };
}
