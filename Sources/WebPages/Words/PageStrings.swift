// Constant texts of the pages, each in both languages at the same place.
// Invariant: the Korean texts of the three original screens are unchanged.
import Arguments

/// The constant texts of the pages in both languages, one property for each.
struct PageStrings: Sendable {
  static let all = PageStrings()

  // Frame.
  let bank = Text("Bank", "은행")
  let skip = Text("Skip to the contents", "본문으로 건너뛰기")
  let menu = Text("Menu", "메뉴")
  let pages = Text("Pages", "페이지")
  let theme = Text("Theme", "화면")
  let automatic = Text("Auto", "자동")
  let light = Text("Light", "밝게")
  let dark = Text("Dark", "어둡게")
  let languages = Text("Language", "언어")
  let readOnly = Text("Read-only view.", "보기 전용입니다. 여기서는 아무것도 바꿀 수 없습니다.")
  let bankUnavailable = Text(
    "The bank does not respond. Showing the last known state; updates resume automatically.",
    "은행이 응답하지 않습니다. 마지막으로 받은 상태이며 자동으로 갱신됩니다.")
  let bankClosed = Text(
    "The bank has closed. Updates resume automatically when the bank opens and its web interface starts.",
    "은행이 마감했습니다. 은행을 다시 열고 웹 화면을 시작하면 자동으로 갱신됩니다.")
  let serverUnavailable = Text(
    "Lost the connection to the server. Reconnecting …", "서버와 연결이 끊겼습니다. 다시 연결하는 중 …")
  let otherServer = Text(
    "Another program responds at this address. Nothing is sent to it; updates resume when the bank is back.",
    "이 주소에서 다른 프로그램이 응답합니다. 아무것도 보내지 않으며, 은행이 다시 열리면 갱신됩니다.")
  let logOut = Text("Log out", "로그아웃")
  let notSent = Text(
    "Not sent: the server does not respond. Try again.",
    "서버가 응답하지 않아 보내지 못했습니다. 다시 시도하세요.")
  let notAccepted = Text(
    "The server rejected the request. Nothing was changed.", "서버가 요청을 거절했습니다. 변경된 내용은 없습니다.")
  let utc = Text("Times are in UTC.", "시각은 UTC입니다.")
  let live = Text("live", "실시간")

  // Page titles.
  /// Branches of a bank with a shared database.
  let branches = Text("Branches", "지점")
  let kiosk = Text("Take a ticket", "번호표 뽑기")
  let lobby = Text("Call display", "호출 화면")
  let juiceMaker = Text("Juice", "쥬스")
  let stock = Text("Stock", "재고")
  let vending = Text("Vending machine", "자판기")
  let admin = Text("Manager", "자판기 관리")
  let windows = Text("Windows", "창구")
  let services = Text("Services", "업무")
  let tickets = Text("Customers", "고객")
  let deadLetters = Text("Dead letters", "보류")
  let receipts = Text("Receipts", "영수증")
  let audit = Text("Audit", "점검")
  let ledger = Text("Ledger", "원장")

  // Bank.
  let addTen = Text("Add 10 customers", "고객 10명 추가")
  let reset = Text("Reset", "초기화")
  let noneWaiting = Text("No customers waiting.", "기다리는 고객이 없습니다.")
  let noneServed = Text("No customers being served.", "업무중인 고객이 없습니다.")
  let events = Text("Recent events", "최근 이벤트")
  let nothingHappened = Text("No events yet.", "아직 이벤트가 없습니다.")
  let issued = Text("Issued", "발급")
  let waiting = Text("Waiting", "대기중")
  let delayed = Text("Delayed", "예약·재시도")
  let serving = Text("Serving", "업무중")
  let served = Text("Served", "완료")
  let cancelled = Text("Cancelled", "취소")
  let dead = Text("Dead", "보류")
  let done = Text("Done", "완료")
  let ratesHeading = Text("Served per second", "초당 처리")
  let overSecond = Text("1 s", "1초")
  let overTenSeconds = Text("10 s", "10초")
  let overTenMinutes = Text("10 min", "10분")

  // Kiosk and ticket.
  let service = Text("Service", "업무")
  let grade = Text("Grade", "등급")
  let randomService = Text("random", "무작위")
  let payload = Text("Payload", "페이로드")
  let payloadHint = Text(
    "Text for a service of your own; leave it empty for the built-in services.",
    "직접 만든 업무에 전달할 텍스트입니다. 은행 업무라면 비워 두세요.")
  let juiceElsewhere = Text("A juice is ordered on the juice page.", "쥬스는 쥬스 화면에서 주문합니다.")
  let howMany = Text("How many", "몇 명")
  let take = Text("Take a ticket", "번호표 뽑기")
  let queueNow = Text("Queue", "지금 대기 현황")
  let place = Text("Place in line", "순서")
  let estimate = Text("Expected wait", "예상 대기")
  let scheduled = Text("Scheduled for", "예약 시각")
  let window = Text("Window", "창구")
  let progress = Text("Progress", "진행")
  let ticketHistory = Text("Timeline", "처리 이력")
  let ticketIssued = Text("ticket issued", "번호표 발급")
  let output = Text("Output", "출력")
  let noOutput = Text("No output yet.", "아직 출력이 없습니다.")
  let outputInReceipt = Text("The receipt has the complete output.", "출력은 모두 영수증에 있습니다.")
  let noOutputAtAll = Text("No output.", "출력이 없습니다.")
  let errors = Text("Standard error", "표준 오류")
  let outputCut = Text("Earlier output omitted.", "앞부분은 생략했습니다.")
  let receipt = Text("Receipt", "영수증")
  let noReceipt = Text("The receipt is written when the work is done.", "업무가 끝나면 영수증이 나옵니다.")
  let result = Text("Result", "결과")
  let cancel = Text("Cancel", "취소")
  let requeue = Text("Requeue", "다시 줄 세우기")
  let payloadHeading = Text("Payload", "페이로드")
  let amount = Text("Amount", "금액")
  let account = Text("Account", "계좌")
  let processEnded = Text("the process ended", "프로세스 종료")

  // Call display.
  let noCalls = Text("Please take a ticket.", "번호표를 뽑으세요.")
  let chimeOn = Text("Turn the chime on", "알림음 켜기")
  let chimeOff = Text("Turn the chime off", "알림음 끄기")
  let lastCalls = Text("Previous calls", "이전 호출")
  let again = Text("again", "다시")

  // Juice maker.
  let fruit = Text("Fruit", "과일")
  let editStock = Text("Change stock", "재고수정")
  let cannotBeMade = Text("not enough fruit", "재료 부족")
  let stockServiceUnavailable = Text(
    "The stock service does not respond; showing the last known state.", "재고 서비스가 응답하지 않습니다. 마지막으로 받은 상태입니다.")
  let fewer = Text("one fewer", "1개 빼기")
  let more = Text("one more", "1개 추가")
  let setTo = Text("Set", "적용")

  // Vending machine.
  let balance = Text("Balance", "잔액")
  let giveChange = Text("Return change", "잔액 반환")
  let otherAmount = Text("Another amount", "다른 금액")
  let insert = Text("Insert", "넣기")
  let buy = Text("Buy", "구매")
  let purchases = Text("Purchases", "구매 내역")
  let noPurchases = Text("Nothing has been bought yet.", "아직 구매 내역이 없습니다.")
  let earlier = Text("Earlier purchases", "이전 구매")
  let later = Text("Later purchases", "이후 구매")
  let machineUnavailable = Text(
    "The vending machine does not respond; showing the last known state.", "자판기가 응답하지 않습니다. 마지막으로 받은 상태입니다.")
  let soldOut = Text("sold out", "품절")
  let tooExpensive = Text("insufficient balance", "잔액 부족")
  let hot = Text("hot", "따뜻함")
  let whichDrinks = Text("Which drinks", "볼 음료")
  let canBuy = Text("Can buy now", "살 수 있는 것만")
  let hotOnly = Text("Hot only", "따뜻한 것만")
  let expiredOnly = Text("Expired only", "유통기한 지난 것만")
  let addStock = Text("Add stock", "재고 추가")
  let product = Text("Product", "상품")
  let quantity = Text("Quantity", "개수")
  let made = Text("Made on", "제조일")
  let expires = Text("Expires", "유통기한")
  let add = Text("Add", "추가")
  let lots = Text("Lots", "묶음별 재고")
  let expired = Text("expired", "유통기한 만료")
  let expiredDrinks = Text("Expired drinks", "유통기한 지난 음료")
  let discardExpired = Text("Discard expired drinks", "유통기한 지난 음료 폐기")
  let shares = Text("Shares of the purchases", "구매 비율")
  let share = Text("Share", "비율")
  let sold = Text("Sold", "판매")
  let code = Text("Manager's code", "관리자 코드")
  let login = Text("Log in", "로그인")
  let managerOnly = Text(
    "For the manager only. 'bankctl web' prints the code.", "관리자 전용입니다. 코드는 'bankctl web'에 표시됩니다.")
  let wrongCode = Text("Wrong code.", "코드가 맞지 않습니다.")
  let codePause = Text(
    "Too many wrong codes. Wait 30 seconds, then enter the code again.",
    "틀린 코드를 여러 번 입력했습니다. 30초 뒤에 코드를 다시 입력하세요.")

  // Windows and services.
  let pause = Text("Pause", "일시 중지")
  let resume = Text("Resume", "다시 시작")
  let paused = Text("paused", "일시 중지")
  let oneFewerWindow = Text("one window fewer", "창구 하나 닫기")
  let oneMoreWindow = Text("one more window", "창구 하나 열기")
  let state = Text("State", "상태")
  let pid = Text("pid", "pid")
  let generationHeading = Text("Generation", "세대")
  let ticket = Text("Ticket", "번호")
  let since = Text("Elapsed", "경과")
  let restarts = Text("Restarts", "재시작")
  let memoryHeading = Text("Memory", "메모리")
  let log = Text("Log", "로그")
  let logAndActions = Text("Actions", "로그와 조작")
  let end = Text("Kill", "강제 종료")
  let noWindows = Text("No windows are open.", "열린 창구가 없습니다.")
  let noLogLines = Text("The logs have no such lines.", "해당하는 로그가 없습니다.")
  let lines = Text("Queues", "대기열")
  let tenMinutes = Text("served in the last ten minutes", "지난 10분 처리")
  let windowControls = Text("Windows per service", "업무별 창구")

  // Records.
  let filter = Text("Filter", "필터")
  let apply = Text("Show", "보기")
  let all = Text("all", "전체")
  let next = Text("Next page", "다음")
  let first = Text("First page", "처음")
  let none = Text("No customers here.", "해당하는 고객이 없습니다.")
  let noReceipts = Text("There are no receipts.", "영수증이 없습니다.")
  let select = Text("Select", "선택")
  let cancelSelected = Text("Cancel selected", "선택한 고객 취소")
  let requeueSelected = Text("Requeue selected", "선택한 고객 다시 줄 세우기")
  let cancelAll = Text("Cancel all matching", "조건에 맞는 고객 모두 취소")
  let requeueAll = Text("Requeue all matching", "조건에 맞는 고객 모두 다시 줄 세우기")
  let afterNumber = Text("After number", "이 번호 다음부터")
  let outcome = Text("Outcome", "결과")
  let attempts = Text("Attempts", "시도")
  let finished = Text("Finished at", "끝난 시각")
  let issuedAt = Text("Issued at", "발급 시각")
  let reason = Text("Reason", "사유")
  let business = Text("Request", "내용")

  // Audit and ledger.
  let allFulfilled = Text("Every guarantee that can be checked holds.", "확인할 수 있는 모든 보장이 지켜졌습니다.")
  let broken = Text("At least one guarantee is violated.", "지켜지지 않은 보장이 있습니다.")
  let checking = Text("Checking …", "확인하는 중 …")
  let isFulfilled = Text("holds", "정상")
  let isBroken = Text("violated", "위반")
  let notChecked = Text("not checked", "확인하지 못함")
  let problems = Text("Problems", "문제")
  let notes = Text("Notes", "참고")
  let inProgress = Text("Waiting or being served", "대기·업무중")
  let guaranteeHeading = Text("Guarantee", "보장")
  let difference = Text("Difference", "차이")
  let debit = Text("Debit", "차변")
  let credit = Text("Credit", "대변")
  let transfers = Text("Transfers", "이체")
  let total = Text("Total", "합계")
  let balanced = Text("The trial balance is zero.", "시산표의 차액은 0입니다.")
  let unbalanced = Text("The trial balance is not zero.", "시산표의 차액이 0이 아닙니다.")
  let noEntries = Text("The ledger has no entries yet.", "원장에 아직 내역이 없습니다.")
  let latestTransfers = Text("The latest transfers", "최근 이체")
  let allAccounts = Text("All accounts", "모든 계좌")

  // Confirmations, logins and errors.
  let confirmHeading = Text("Please confirm", "확인하세요")
  let loginHeading = Text("Sign-in link required", "로그인 링크가 필요합니다")
  let loginText = Text(
    "Run this in a terminal and open the link that it prints:", "터미널에서 아래 명령을 입력하고, 나오는 링크를 여세요.")
  let usedLink = Text(
    "That link has been used, or the server has restarted.", "이미 쓴 링크이거나, 서버가 다시 시작되었습니다.")
  let oneMoment = Text("One moment …", "잠시 기다리세요 …")
  let continueLink = Text("Continue to the page", "페이지로 이동")
  let toBank = Text("To the bank", "은행으로")
  let ok = Text("OK", "확인")
}
