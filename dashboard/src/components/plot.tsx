import '../validLanguage.ts';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useEffectEvent, useRef } from 'react';
import UPlot from 'uplot';
import { useTheme } from '../theme.ts';
import { classes } from './classes.ts';

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** A color of the palette in `style.css`, such as `accent` or `bad-lamp`. */
  readonly color: string;
}

interface PlotProps {
  /** Describes the plot for screen readers. */
  readonly summary: string;
  /** Seconds since the epoch, one per value. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  readonly format?: (value: number) => string;
}

/** A plot of lines over time, which is updated in place. */
export function Plot({
  summary,
  times,
  series,
  height = 180,
  format = (value) => value.toLocaleString('en'),
}: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const theme = useTheme();
  const draw = useEffectEvent(
    (parent: HTMLElement) =>
      new UPlot(optionsOf(series, parent.clientWidth, height, format), dataOf(times, series), parent),
  );
  const shape = series.map(({ name, color }) => `${name} ${color}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: redraws for another theme or other lines
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return;
    const made = draw(parent);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [theme, shape, height]);

  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);

  return <div ref={place} role="img" aria-label={summary} className="w-full overflow-hidden" style={{ height }} />;
}

/** The legend of a plot. */
export function Legend({ series }: { readonly series: readonly Pick<Series, 'name' | 'color'>[] }) {
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1 text-xs text-ink-soft">
      {series.map(({ name, color }, index) => (
        <li key={name} className="flex items-center gap-2">
          <span
            aria-hidden
            className={classes('w-4 border-t-2', isDashed(index) && 'border-dashed')}
            style={{ borderColor: `var(--${color})` }}
          />
          {name}
        </li>
      ))}
    </ul>
  );
}

/** Distinguishes the lines without relying on color. */
const isDashed = (index: number) => index % 2 === 1;

function dataOf(times: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function optionsOf(
  series: readonly Series[],
  width: number,
  height: number,
  format: (value: number) => string,
): UPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis: UPlot.Axis = {
    stroke: color('ink-faint'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 70 },
      {
        ...axis,
        size: 46,
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? format(value) : '')),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color: stroke }, index) => ({
        label: name,
        stroke: color(stroke),
        width: 2,
        ...(isDashed(index) && { dash: [6, 4] }),
        points: { show: false },
      })),
    ],
  };
}
