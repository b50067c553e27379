//! What the made-up sessions talk about.

pub const PROJECTS: &[&str] = &[
    "billing",
    "gateway",
    "ledger-ui",
    "mobile-app",
    "docs-site",
    "infra",
    "etl",
    "auth-service",
    "storefront",
    "sdk",
    "notifier",
    "search-api",
];

pub const VERBS: &[&str] = &[
    "reconcile",
    "normalize",
    "hydrate",
    "dispatch",
    "coalesce",
    "validate",
    "throttle",
    "serialize",
    "prefetch",
    "debounce",
    "rehydrate",
    "partition",
    "escalate",
    "annotate",
];

pub const NOUNS: &[&str] = &[
    "Ledger",
    "Batch",
    "Shipment",
    "Coupon",
    "Tenant",
    "Webhook",
    "Cursor",
    "Snapshot",
    "Quota",
    "Receipt",
    "Envelope",
    "Roster",
    "Thumbnail",
    "Voucher",
    "Heartbeat",
    "Manifest",
    "Checkpoint",
    "Inventory",
    "Wishlist",
    "Locale",
];

/// Sentences that say nothing in particular, for all sessions.
pub const SMALL_TALK: &[&str] = &[
    "Let me look at the file first and then run the tests again.",
    "That is what we want, but please keep the old behaviour for now.",
    "I will make the change in the module and check that everything still builds.",
    "The test passes here; it was the order in which the two were called.",
    "Can you explain how this works and why it was done like that?",
    "There is one more place where the same thing is done by hand.",
    "I have updated the configuration and the error message says what to do.",
    "Please add a test for this and do not touch the other files.",
    "It looks right to me, we should merge it before the release.",
    "The build is green, what would you like to do about the rest of it?",
    "How did we do this the last time, and where did that go?",
    "I moved the helper up, since both sides use it in the same way.",
];

/// Long words for typos.
pub const HARD_WORDS: &[&str] = &[
    "idempotency",
    "backpressure",
    "deserialization",
    "pagination",
    "memoization",
    "observability",
    "canonicalization",
    "tokenizer",
    "throttling",
    "provisioning",
    "middleware",
    "replication",
    "compaction",
    "sharding",
    "debouncing",
    "orchestration",
    "localization",
    "telemetry",
    "checksum",
    "hydration",
    "multiplexer",
    "scheduler",
    "transpiler",
    "watermark",
    "quantization",
    "prefetching",
    "bootstrap",
    "changelog",
    "hyphenation",
    "federation",
    "encryption",
    "rollback",
];

/// Words that go with them.
pub const SOFT_WORDS: &[&str] = &[
    "invoice",
    "upload",
    "avatar",
    "checkout",
    "mailer",
    "calendar",
    "dashboard",
    "profile",
    "import",
    "export",
    "gallery",
    "survey",
];

/// A story: project, days ago, prompt, answer, and questions that mean it.
pub struct Story {
    pub project: &'static str,
    pub days: i64,
    pub prompt: &'static str,
    pub answer: &'static str,
    pub questions: &'static [&'static str],
}

const fn story(
    project: &'static str,
    days: i64,
    prompt: &'static str,
    answer: &'static str,
    questions: &'static [&'static str],
) -> Story {
    Story { project, days, prompt, answer, questions }
}

pub const STORIES: &[Story] = &[
    story(
        "billing",
        6,
        "The retry test in the invoice worker is flaky, it fails one run in ten.",
        "Fixed: the jitter is seeded now and the retry waits on the fake clock instead of sleeping.",
        &[
            "how did we fix the flaky retry in billing last week",
            "why was the invoice worker retry test flaky?",
        ],
    ),
    story(
        "gateway",
        33,
        "Websocket clients get disconnected after exactly sixty seconds behind the proxy.",
        "The idle timeout of nginx was the cause. A ping every twenty seconds keeps the sockets open.",
        &[
            "why were websocket clients disconnecting after a minute",
            "what did we do about websockets dropping behind nginx",
        ],
    ),
    story(
        "mobile-app",
        58,
        "The app crashes on old Android phones when the camera opens for the barcode scanner.",
        "The crash came from a missing permission check before the preview surface was created.",
        &[
            "what caused the android crash in the barcode scanner",
            "how was the camera permission crash solved",
        ],
    ),
    story(
        "etl",
        12,
        "Parquet files from the nightly export have wrong timestamps, everything is shifted by two hours.",
        "The writer used local time. Timestamps are converted to UTC before the parquet columns are built.",
        &[
            "why are the timestamps in parquet shifted by two hours",
            "where did we convert the nightly export to UTC?",
        ],
    ),
    story(
        "auth-service",
        91,
        "Users are logged out at random since refresh tokens rotate.",
        "Two tabs raced for the same refresh token. We added a grace period of ten seconds for the previous token.",
        &[
            "how do we handle two tabs racing for a refresh token",
            "why do users get logged out randomly when tokens rotate",
        ],
    ),
    story(
        "storefront",
        20,
        "The product page is slow, largest contentful paint takes four seconds.",
        "Hero images are preloaded and served as AVIF now; the paint went down to 1.3 seconds.",
        &["how did we make the product page faster", "what did we change for largest contentful paint"],
    ),
    story(
        "infra",
        44,
        "Terraform wants to destroy the production database when I only changed a tag.",
        "The tag was part of a name that forces replacement. A lifecycle rule prevents destroying it, and the name is fixed.",
        &[
            "terraform wanted to destroy the database because of a tag",
            "how can I stop terraform from replacing the production database",
        ],
    ),
    story(
        "search-api",
        75,
        "Queries with umlauts find nothing in the catalog.",
        "The analyzer lacked accent folding on the query side; both sides use the same chain now.",
        &[
            "umlauts found nothing in the catalog search, what was it",
            "when did we add accent folding to the analyzer",
        ],
    ),
    story(
        "notifier",
        9,
        "Some customers get the same email twice when the queue redelivers.",
        "Sending is keyed by the message id in redis, so that a redelivered job sends nothing.",
        &[
            "customers were getting duplicate emails, how did we stop it",
            "why are emails sent twice when the queue redelivers",
        ],
    ),
    story(
        "docs-site",
        120,
        "Dark mode flashes white when a page loads.",
        "The theme is now set by an inline script before the first paint.",
        &[
            "how did we get rid of the white flash in dark mode",
            "what was the trick against the flashing theme on page load",
        ],
    ),
    story(
        "sdk",
        150,
        "The python client leaks connections when a stream is cancelled.",
        "The response is closed in a finally block of the async generator, and the pool is bounded.",
        &[
            "which change fixed leaking connections in the python client",
            "do cancelled streams still leak connections?",
        ],
    ),
    story(
        "ledger-ui",
        27,
        "Totals in the table are off by one cent for some currencies.",
        "Rounding happened per row. Amounts are summed as integers of minor units and rounded once.",
        &["why were totals off by one cent", "how should amounts be rounded in the ledger table"],
    ),
    story(
        "billing",
        65,
        "Stripe webhooks are rejected because the signature does not match.",
        "The body was parsed before it was verified. The raw bytes go into the signature check now.",
        &[
            "stripe webhook signature did not match, why?",
            "how do we verify the signature of stripe webhooks",
        ],
    ),
    story(
        "gateway",
        3,
        "Memory of the rate limiter grows without end.",
        "Buckets of clients that are gone were never evicted; they expire after an hour of silence.",
        &["why did the memory of the rate limiter grow", "when do the buckets of the rate limiter expire"],
    ),
    story(
        "infra",
        14,
        "The kubernetes pods are killed with exit code 137 during the migration job.",
        "The job loaded the whole table. It streams in chunks of five thousand rows and stays below the limit.",
        &[
            "why were pods killed during the migration job",
            "how did we stop the migration from running out of memory in kubernetes",
        ],
    ),
    story(
        "storefront",
        200,
        "Safari shows the cart badge with the old number after going back.",
        "Pages restored from the back-forward cache did not refetch. A pageshow listener refreshes the badge.",
        &["cart badge shows an old number in safari", "what did we do about the back-forward cache"],
    ),
];

/// A script's sentences, each with a stretch to ask for, and one that shares much with it.
pub struct Foreign {
    pub kind: &'static str,
    pub said: &'static str,
    pub asked: &'static str,
    pub near: &'static str,
}

const fn foreign(kind: &'static str, said: &'static str, asked: &'static str, near: &'static str) -> Foreign {
    Foreign { kind, said, asked, near }
}

pub const FOREIGN: &[Foreign] = &[
    foreign(
        "japanese",
        "検索結果の並び順がおかしいので修正してください",
        "検索結果の並び順",
        "検索条件の並べ替えと結果の表示",
    ),
    foreign(
        "japanese",
        "ログイン画面のパスワード再設定が失敗する",
        "パスワード再設定",
        "パスワードの設定画面を再度開く",
    ),
    foreign(
        "japanese",
        "データベースのマイグレーションを取り消す方法",
        "マイグレーション",
        "マイクロサービスのオペレーション",
    ),
    foreign("japanese", "請求書の消費税の端数処理を切り捨てに変更した", "端数処理", "処理の端末番号"),
    foreign("japanese", "テストが不安定なのは時刻に依存しているためです", "時刻に依存", "依存関係の時刻表"),
    foreign("japanese", "画像アップロードの非同期処理を実装する", "非同期処理", "同期処理は非推奨"),
    foreign("chinese", "明天下午三点开项目评审会议，请准备支付接口的文档", "评审会议", "会议评论和审核"),
    foreign("chinese", "修复订单超时自动取消的定时任务", "自动取消", "取消自定义动作"),
    foreign("chinese", "数据库连接池耗尽导致服务不可用", "连接池耗尽", "连接耗时池化"),
    foreign("chinese", "把配置文件改成支持多语言切换", "多语言切换", "语言多样，切勿更换"),
    foreign("chinese", "用户头像上传后没有压缩", "头像上传", "上传头部图像"),
    foreign("chinese", "为什么缓存失效之后会出现雪崩", "缓存失效", "缓冲存储失败有效"),
    foreign("korean", "검색 인덱스가 갱신되지 않는 문제를 해결했습니다", "인덱스", "인데스크 서비스"),
    foreign("korean", "결제 모듈에서 중복 요청을 막아 주세요", "중복 요청", "중요한 요청"),
    foreign("korean", "로그인 세션이 만료되면 다시 로그인하도록 한다", "세션이 만료", "만료일 세션"),
    foreign("korean", "이미지 업로드 실패 시 재시도 로직을 추가", "재시도 로직", "시도와 로직"),
    foreign("korean", "데이터베이스 마이그레이션 순서를 바꿨다", "마이그레이션", "마이크 이그니션"),
    foreign("korean", "알림 메일이 두 번 발송되는 버그", "두 번 발송", "발송은 한 번"),
    foreign("thai", "แก้ไขปัญหาการเข้าสู่ระบบล้มเหลวหลังจากอัปเดต", "การเข้าสู่ระบบ", "การออกจากระบบและเข้าห้อง"),
    foreign("thai", "เพิ่มการแจ้งเตือนเมื่อคำสั่งซื้อถูกยกเลิก", "คำสั่งซื้อ", "คำตอบและการซื้อ"),
    foreign("thai", "ฐานข้อมูลทำงานช้าเพราะไม่มีดัชนี", "ฐานข้อมูล", "ข้อมูลพื้นฐาน"),
    foreign("thai", "หน้าชำระเงินไม่แสดงราคารวม", "ชำระเงิน", "เงินที่ชำรุด"),
    foreign("thai", "เปลี่ยนรหัสผ่านแล้วไม่ได้รับอีเมล", "รหัสผ่าน", "ผ่านรหัสอื่น"),
    foreign("thai", "ทดสอบการอัปโหลดไฟล์ขนาดใหญ่", "อัปโหลดไฟล์", "ไฟล์ที่โหลดลง"),
    foreign("folding", "The café menu import drops entries", "cafe menu", "The cafeteria menus"),
    foreign(
        "folding",
        "Map tiles of Zürich and Genève are blank",
        "zurich geneve tiles",
        "Map tiles of Geneva",
    ),
    foreign("folding", "naïve façade for the résumé parser", "naive facade", "a native facet"),
    foreign(
        "folding",
        "the label says ＦＵＬＬＷＩＤＴＨ１２３ in the log",
        "fullwidth123",
        "full width 12 3",
    ),
    foreign(
        "folding",
        "Kundenübersicht für Großbestellungen öffnen",
        "kundenubersicht",
        "Kunden und Übersichten",
    ),
    foreign("folding", "El cálculo de la nómina está mal", "calculo nomina", "calculadora nominal"),
    foreign("folding", "ｶﾀｶﾅ表記のバリデーションが通らない", "カタカナ表記", "ひらがな表記"),
    foreign("folding", "Příliš žluťoučký kůň je v testech", "prilis zlutoucky", "prilis kun"),
];
