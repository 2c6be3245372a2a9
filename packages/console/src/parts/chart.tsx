import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../theme.ts';

interface ChartParts {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly {
    readonly label: string;
    readonly colour: string;
    readonly values: readonly (number | null)[];
  }[];
}

/** Lines over time, with a text alternative for screen readers. */
export function Chart({ title, times, lines }: ChartParts) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const { value: shown } = theme;
  const labels = lines.map(({ label }) => label).join(' ');
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const axis = {
      stroke: resolved(element, '--dim'),
      grid: { stroke: resolved(element, '--line'), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { range: ({ data }) => shownTimes(data[0]) },
          y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
        },
        axes: [
          { ...axis, size: 26, values: (_, splits) => splits.map(clockTime), space: 70 },
          { ...axis, size: 40 },
        ],
        series: [
          {},
          ...lines.map(({ label, colour: name }, at) => ({
            label,
            stroke: resolved(element, name),
            ...(at === 0 && { fill: faint(resolved(element, name)) }),
            width: 1.6,
            // A line needs at least two readings, so fewer are drawn as points.
            points: { show: ({ data }: uPlot) => data[0].length < 3 },
            spanGaps: false,
          })),
        ],
      },
      dataOf(times, lines),
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: element.clientHeight }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [shown, labels]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);
  const words = lines.map(({ label, values }) => `${label}: now ${values.at(-1) ?? 0}`).join('; ');
  return (
    <section class="panel">
      <div class="bar">
        <h2>{title}</h2>
        <p class="legend">
          {lines.map(({ label, colour }) => (
            <span key={label}>
              <i style={{ background: `var(${colour})` }} />
              {label}
            </span>
          ))}
        </p>
      </div>
      <div class="chart" ref={place} role="img" aria-label={`${title}. ${words}`} />
    </section>
  );
}

/** The shown time: from the first reading to the last, but at least five minutes. */
function shownTimes(times: ArrayLike<number>): [number, number] {
  const last = times[times.length - 1] ?? Date.now() / 1000;
  return [Math.min(times[0] ?? last, last - SHORTEST_S), last];
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, 5);
}

/** An `rgb(…)` colour with an opacity of 8 %. */
function faint(colour: string): string {
  return colour.replace('rgb(', 'rgba(').replace(')', ', 0.08)');
}

const SHORTEST_S = 300;

/** A canvas supports neither variables nor `light-dark()`, so the browser resolves the colour. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function dataOf(times: ChartParts['times'], lines: ChartParts['lines']): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}
