// Streams of C++: formatted text, blocks, places, and one that goes on at the end.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::vector<char> block(100000, 'b');
    {
        std::ofstream text("text");
        for (int i = 0; i < 20000; i++) text << 10000 + i % 10000 << '\n';
        text.write(block.data(), static_cast<std::streamsize>(block.size()));
    }
    {
        std::ifstream text("text");
        std::string line;
        long sum = 0;
        for (int i = 0; i < 20000 && std::getline(text, line); i++) sum += std::stol(line);
        text.read(block.data(), 1000);
        std::cout << sum << ' ' << text.gcount() << std::endl;
    }
    std::fstream both("both", std::ios::in | std::ios::out | std::ios::trunc | std::ios::binary);
    both.write(block.data(), 50000);
    both.seekg(100);
    both.read(block.data(), 200);
    both.seekp(0, std::ios::end);
    both << "end" << std::flush;
    both.close();
    std::ofstream more("text", std::ios::app);
    more << "";
    std::ifstream none("none");
    std::cout << none.is_open() << std::endl;
}
