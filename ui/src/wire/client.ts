/**
 * Asking the engine. Who answers — a server on this machine, or a worker in the page — is decided once, when the page
 * opens; everything else only knows `ask`.
 */
import { frame, type Frame } from "./columns.ts";
import type {
  AnomaliesHead,
  ArrayHead,
  ArrayOf,
  ArraysHead,
  At,
  CalleesHead,
  CallPathsHead,
  CausesHead,
  CollectiveHead,
  CollectivesHead,
  CollectiveSumsHead,
  CompareHead,
  CounterPlacesHead,
  Counters,
  CountersHead,
  Course,
  CourseHead,
  ErrorHead,
  EventsAtHead,
  EventsHead,
  EventSpan,
  FoundHead,
  Histogram,
  HistogramHead,
  Instances,
  InstancesHead,
  IterationsHead,
  LevelsHead,
  MessagesHead,
  Operation,
  OverlapPlacesHead,
  OverlapsHead,
  PartOf,
  PathHead,
  RemarksHead,
  Request,
  RunHead,
  SectionsHead,
  SectionsOf,
  Sentences,
  SentencesHead,
  SentenceTimes,
  SentenceTimesHead,
  SharesHead,
  SharesOf,
  SituationsHead,
  SourceCodeHead,
  SourceCodesHead,
  SourceFileHead,
  SourceFunctionsHead,
  SourceHead,
  SourceLoopHead,
  SourceTypeHead,
  SourceTypesHead,
  SourceWayHead,
  SpanOf,
  StatesHead,
  Step,
  SubArrayHead,
  SubArrayOf,
  TotalsHead,
  Traffic,
  TrafficHead,
  UtilisationHead,
  VisitHead,
  WaitsHead,
  Window,
} from "./generated.ts";
import type { Report } from "./report.ts";

/** Takes a request to the engine and brings its frame. */
export type Carrier = (request: string) => Promise<ArrayBuffer>;

/** All questions. */
export class Engine {
  private readonly carrier: Carrier;

  constructor(carrier: Carrier) {
    this.carrier = carrier;
  }

  run = (): Promise<Frame<RunHead>> => this.ask({ ask: "run" });
  report = (): Promise<Frame<Report>> => this.ask({ ask: "report" });
  states = (window: Window): Promise<Frame<StatesHead>> => this.ask({ ask: "states", ...window });
  totals = (window: Window): Promise<Frame<TotalsHead>> => this.ask({ ask: "totals", ...window });
  course = (of: Course): Promise<Frame<CourseHead>> => this.ask({ ask: "course", ...of });
  messages = (window: Window): Promise<Frame<MessagesHead>> => this.ask({ ask: "messages", ...window });
  traffic = (of: Traffic): Promise<Frame<TrafficHead>> => this.ask({ ask: "traffic", ...of });
  collectiveSums = (of: SpanOf): Promise<Frame<CollectiveSumsHead>> => this.ask({ ask: "collective-sums", ...of });
  collectives = (window: Window): Promise<Frame<CollectivesHead>> => this.ask({ ask: "collectives", ...window });
  collective = (of: Operation): Promise<Frame<CollectiveHead>> => this.ask({ ask: "collective", ...of });
  counterPlaces = (): Promise<Frame<CounterPlacesHead>> => this.ask({ ask: "counter-places" });
  counters = (of: Counters): Promise<Frame<CountersHead>> => this.ask({ ask: "counters", ...of });
  overlapPlaces = (): Promise<Frame<OverlapPlacesHead>> => this.ask({ ask: "overlap-places" });
  overlaps = (window: Window): Promise<Frame<OverlapsHead>> => this.ask({ ask: "overlaps", ...window });
  events = (window: Window): Promise<Frame<EventsHead>> => this.ask({ ask: "events", ...window });
  eventsAt = (of: EventSpan): Promise<Frame<EventsAtHead>> => this.ask({ ask: "events-at", ...of });
  waits = (window: Window): Promise<Frame<WaitsHead>> => this.ask({ ask: "waits", ...window });
  causes = (of: SpanOf): Promise<Frame<CausesHead>> => this.ask({ ask: "causes", ...of });
  path = (window: Window): Promise<Frame<PathHead>> => this.ask({ ask: "path", ...window });
  visit = (at: At): Promise<Frame<VisitHead>> => this.ask({ ask: "visit", ...at });
  histogram = (of: Histogram): Promise<Frame<HistogramHead>> => this.ask({ ask: "histogram", ...of });
  instances = (of: Instances): Promise<Frame<InstancesHead>> => this.ask({ ask: "instances", ...of });
  utilisation = (at_ns: number): Promise<Frame<UtilisationHead>> => this.ask({ ask: "utilisation", at_ns });
  situations = (): Promise<Frame<SituationsHead>> => this.ask({ ask: "situations" });
  anomalies = (): Promise<Frame<AnomaliesHead>> => this.ask({ ask: "anomalies" });
  levels = (): Promise<Frame<LevelsHead>> => this.ask({ ask: "levels" });
  callPaths = (of: SpanOf): Promise<Frame<CallPathsHead>> => this.ask({ ask: "call-paths", ...of });
  shares = (of: SharesOf): Promise<Frame<SharesHead>> => this.ask({ ask: "shares", ...of });
  sentences = (of: Sentences): Promise<Frame<SentencesHead>> => this.ask({ ask: "sentences", ...of });
  sentenceTimes = (of: SentenceTimes): Promise<Frame<SentenceTimesHead>> => this.ask({ ask: "sentence-times", ...of });
  arrays = (of: PartOf): Promise<Frame<ArraysHead>> => this.ask({ ask: "arrays", ...of });
  array = (of: ArrayOf): Promise<Frame<ArrayHead | null>> => this.ask({ ask: "array", ...of });
  sections = (of: SectionsOf): Promise<Frame<SectionsHead>> => this.ask({ ask: "sections", ...of });
  subArray = (of: SubArrayOf): Promise<Frame<SubArrayHead>> => this.ask({ ask: "sub-array", ...of });
  compare = (): Promise<Frame<CompareHead>> => this.ask({ ask: "compare" });
  iterations = (): Promise<Frame<IterationsHead>> => this.ask({ ask: "iterations" });
  source = (): Promise<Frame<SourceHead>> => this.ask({ ask: "source" });
  sourceFile = (number: number): Promise<Frame<SourceFileHead>> => this.ask({ ask: "source-file", number });
  sourceCodes = (number: number): Promise<Frame<SourceCodesHead>> => this.ask({ ask: "source-codes", number });
  sourceCode = (number: number): Promise<Frame<SourceCodeHead>> => this.ask({ ask: "source-code", number });
  sourceLoop = (number: number): Promise<Frame<SourceLoopHead>> => this.ask({ ask: "source-loop", number });
  sourceFunctions = (): Promise<Frame<SourceFunctionsHead>> => this.ask({ ask: "source-functions" });
  sourceTypes = (): Promise<Frame<SourceTypesHead>> => this.ask({ ask: "source-types" });
  sourceType = (number: number): Promise<Frame<SourceTypeHead>> => this.ask({ ask: "source-type", number });
  callees = (node: number | null): Promise<Frame<CalleesHead>> => this.ask({ ask: "callees", node });
  remarks = (): Promise<Frame<RemarksHead>> => this.ask({ ask: "remarks" });
  sourceWay = (name: string): Promise<Frame<SourceWayHead>> => this.ask({ ask: "source-way", name });
  step = (step: Step): Promise<Frame<FoundHead>> => this.ask({ ask: "step", ...step });

  private async ask<Head>(request: Request): Promise<Frame<Head>> {
    const answer = frame<Head>(await this.carrier(JSON.stringify(request)));
    if (answer.kind === "error") throw new Error((answer as unknown as Frame<ErrorHead>).head.message);
    return answer;
  }
}
